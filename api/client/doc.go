// Package client calls the shop's API so that a retry never does a thing twice.
//
//	shop, err := client.New(client.Config{BaseURL: "https://shop.example", Secret: secret, DeadLetters: letters})
//	...
//	order, err := shop.PlaceOrder(ctx, client.OrderRequest{...})
//
// Every call that changes something gets a key before its first try. All retries send that key and the
// same bytes, so the API can tell that they are one request: it carries it out once and answers each of
// them alike. Between tries the client waits a random time that grows (full jitter), and at least as
// long as Retry-After says. A whole call, with its pauses, never takes longer than Config.Budget; the
// last quarter of it at most is kept for one question, GET /v1/operations: what became of my key?
//
// A call ends in one of these ways:
//
//	error        what is known               what to do
//	-----        -------------               ----------
//	nil          it was done, once           go on; Result.Replayed tells that an earlier try did it
//	*Refused     the API says no for good    show it to the user, or correct the program. Something
//	                                         corrected or something else is a new call with a new key
//	*Unknown     it may have been done       keep the key and the body, and send both again later.
//	                                         Never a new key: that could do it twice
//	any other    nothing was sent, it was    correct the program; after a GET, just ask again
//	             a GET, or the answer has
//	             a shape that is not known
//
// Which try is followed by another is the rule of one function, decide:
//
//	no whole answer (broken connection, time-out)       retry: it says nothing of what happened
//	2xx                                                 done
//	409 with Retry-After                                retry: the first request still runs
//	409 without                                         refused: the key belongs to another request
//	408, 425, 429, 5xx                                  retry
//	all the rest (400, 401, 402, 403, 404, 410, 422)    refused
//
// A refusal that comes before the API has looked at the key (401, 403, 400) says nothing of an earlier
// try. When one of those had no clear answer, the call ends in *Unknown and not in *Refused.
//
// A 401 does not use a key up: with fresh credentials the same key works.
//
// What must not be retried and nobody at the screen can repair goes to the caller's DeadLetters; the
// list is there.
//
// # After a crash
//
// A program that dies in the middle of a call has lost its key, unless it was saved before. Make it with
// NewKey, save it in the same transaction as the wish ("pay order 7"), and pass it WithKey. After a
// restart send every saved wish that has no result yet, with its key and the same body.
//
// # Repeats by net/http
//
// Go's own transport sends a request that has an Idempotency-Key again, without telling, when a kept
// connection breaks before an answer. That is safe for the same reason as a retry of this package.
// Result.Attempts counts such a repeat; the Retry-Attempt header, with which this package numbers its
// own retries, cannot.
package client
