// Package idempotent makes an operation safe to repeat: however often a request with one key
// arrives, on however many replicas and with whatever crashes in between, its effect happens at most
// once and every caller gets the bytes of the first answer.
//
// Read it in this order: operation.go (what a request goes through), execute.go (new, a repeat, or a
// rescue), run.go (the steps of one run), flight.go (duplicates inside one process), command.go and
// fingerprint.go (what makes two requests the same). The rules are in domain (Decide), the rows in store.
//
// # How it works
//
// The claim on the key is written by the first transaction that a run opens, the answer by the last.
// When those are the same transaction, as in Local, an operation is one commit: the key is free and
// nothing happened, or the key has its answer and everything happened. With an outside call in the
// middle, as in Phased, there are two.
//
// # What to know before changing an operation
//
//   - Code between steps runs on every attempt: keep it free of effects.
//   - Step names and the shapes of their results are stored while a run is unfinished. Renaming one is
//     a migration.
//   - A changed input struct changes fingerprints; give a new field the omitzero option, so that
//     retries across a deploy still match.
//   - An answer is made whole before its effect is committed, and is at most 256 KiB. An operation is
//     handed no writer: it cannot stream, since a stream cannot be sent again.
//   - A renamed route is a new endpoint: it forgets its keys.
package idempotent
