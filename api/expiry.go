package api

import (
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store"
)

// What is left of a key after its answer was wiped stays for longer than anybody can dispute a
// payment; after a contact message there is nothing to dispute.
const (
	tombstone        = 400 * 24 * time.Hour
	contactTombstone = 30 * 24 * time.Hour
)

// SweepRules says for every registered operation how long the records of its keys are kept.
func SweepRules(r *idempotent.Registry) []store.SweepRule {
	var rules []store.SweepRule
	for _, o := range r.Operations() {
		rule := store.SweepRule{Endpoint: o.Pattern, TTL: o.TTL, Tombstone: tombstone}
		if o.Pattern == contactPattern {
			rule.Tombstone = contactTombstone
		}
		rules = append(rules, rule)
	}
	return rules
}

const contactPattern = "POST /v1/contact-messages"
