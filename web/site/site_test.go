package site

import (
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

func TestKeysCarryTheTimeTheyWereMade(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, int(123*time.Millisecond), time.UTC)
	key, err := domain.ParseKey(NewKey(at))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := key.Time(); !ok || !got.Equal(at) {
		t.Errorf("the key says %v, want %v", got, at)
	}
	if one, other := NewKey(at), NewKey(at); one == other {
		t.Error("two keys of one moment are equal")
	}
	if !IsFlow(NewKey(at)) || !IsFlow(NewFlow()) {
		t.Error("our own ids are not recognised")
	}
	for _, s := range []string{"", "x", "../../etc", "00000000-0000-1000-8000-000000000000", "{" + NewFlow() + "}"} {
		if IsFlow(s) {
			t.Errorf("%q passes for an id", s)
		}
	}
}

func TestABasketIsTheSameInEveryOrder(t *testing.T) {
	t.Parallel()
	a := Basket{}.With("mug", 2).With("vase", 1)
	b := Basket{}.With("vase", 1).With("mug", 1).With("mug", 2)
	if a.Print() != b.Print() || a.Print() == a.With("mug", 3).Print() {
		t.Error("the prints of baskets do not tell them apart by content")
	}
	if got := parseBasket(a.text()); got.Print() != a.Print() {
		t.Errorf("read back as %v", got)
	}
	if got := a.With("mug", 1000).Of("mug"); got != domain.MaxQuantity {
		t.Errorf("%d mugs", got)
	}
	if got := a.With("mug", 0).With("vase", -1); len(got) != 0 {
		t.Errorf("left over: %v", got)
	}
	for _, odd := range []string{"mug", "mug:", "mug:0", "mug:-1", "mug:100", ":1", "mug:1x", ",,,"} {
		if got := parseBasket(odd); len(got) != 0 {
			t.Errorf("%q became %v", odd, got)
		}
	}
}
