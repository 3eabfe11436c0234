// Package simulated is a payment provider to practise with: a real HTTP server that keeps its own
// ledger of money, shows its customers a bank's page and tells the shop by signed webhooks (Server),
// and the adapters by which the shop calls it and hears of it (Client, NewEventReader).
//
// The two halves share nothing but the wire. The ledger is a file of its own, so it can be asked,
// after any crash of the shop, how often a customer really paid. Card tokens choose what goes wrong
// with a charge; the table in cards.go lists them. Captures, voids and refunds meet the faults of
// faults.go, and the buttons of the bank's page those of hosted.go.
package simulated
