// Package limit bounds what one caller can use up: requests a minute, and keys that are kept.
//
// A caller is a consumer, or an address where there is no consumer yet. A limit is asked after the
// caller is known and before a key is claimed, so a request that is refused has left nothing behind,
// and its retry with the same key is as good as the first try. Answers of finished keys stay within
// reach of a consumer who is at his limit: only new runs are counted.
//
// The token is taken before the run, because only then it can be refused. A repeat that does not say it
// is one, and whose answer this process does not have in memory, looks like a new run and takes a token
// too: one per process, not one per repeat. At the limit it is looked up first, and still answered.
package limit
