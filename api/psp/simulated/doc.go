// Package simulated is a payment provider to practise with: a real HTTP server that keeps its own
// ledger of money (Server), and the adapter by which the shop calls it (Client).
//
// The two halves share nothing but the wire. The ledger is a file of its own, so it can be asked,
// after any crash of the shop, how often a customer really paid. Card tokens choose what goes wrong;
// the table in cards.go lists them.
package simulated
