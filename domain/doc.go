// Package domain holds the shop's rules: money, orders, payments and messages, the kinds of errors
// they give, the ports they need from outside, and the rule book of idempotency.
//
// It imports the standard library and nothing else, so every rule can be read and tested alone.
package domain
