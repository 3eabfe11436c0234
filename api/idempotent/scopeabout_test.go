package idempotent

import (
	"testing"

	"example.com/eenmaal/domain"
)

// TestTheNameOfAKeyInAFlagLeadsToIt, also for one that tells no time.
func TestTheNameOfAKeyInAFlagLeadsToIt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"01a22c73-8af0-75c2-8076-c03278e2791b", "opaque:0123456789"} {
		key, err := domain.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		s := domain.Scope{Key: key, Consumer: -7, Endpoint: 4}
		got, ok := ScopeAbout(aboutKey(s))
		if !ok || got.Key.ID() != key.ID() || got.Consumer != -7 || got.Endpoint != 4 {
			t.Errorf("%s: %s gave %+v, %v", text, aboutKey(s), got, ok)
		}
	}
	for _, text := range []string{"", "op_AAQBoixzivB1woB2wDJ44nkb", "op_AAQBoixzivB1woB2wDJ44nkb/", "op_AAQBoixzivB1woB2wDJ44nkb/x", "op_x/1", "/1", "op_/1"} {
		if s, ok := ScopeAbout(text); ok {
			t.Errorf("%q passes for %+v", text, s)
		}
	}
}
