package admin

import (
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

// TestEveryKindOfFlagIsNamedAndSettledInBothLanguages, and no other is.
func TestEveryKindOfFlagIsNamedAndSettledInBothLanguages(t *testing.T) {
	t.Parallel()
	kinds := domain.AttentionKinds()
	if len(kinds) < 15 || len(kinds) != len(flagKinds) {
		t.Errorf("%d kinds, %d with words", len(kinds), len(flagKinds))
	}
	for _, kind := range kinds {
		name, do := flagName(kind), flagAction(domain.Attention{Kind: kind})
		if name.En == kind || name.En == "" || name.Nl == "" || name.En == name.Nl || do.En == "" || do.Nl == "" || do.En == do.Nl {
			t.Errorf("%s: %+v %+v", kind, name, do)
		}
	}
	if got := flagName("new"); got.En != "new" || got.Nl != "new" {
		t.Errorf("an unknown kind is called %+v", got)
	}
}

func TestAgesAreInTheirLargestUnit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "zojuist", 59 * time.Second: "zojuist", time.Minute: "1 min", 59 * time.Minute: "59 min",
		90 * time.Minute: "1 uur", 47 * time.Hour: "47 uur", 48 * time.Hour: "2 dagen"} {
		if got := ageOf(d).Nl; got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// TestAFlagLeadsToWhatItIsAbout, where its kind tells; the others are about payments, which are looked up.
func TestAFlagLeadsToWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		domain.NeedsAttention: "/admin/keys?q=op_x%2F1", domain.DeadDelivery: "/admin/deliveries/op_x/1", domain.MailDead: "/admin/mails/op_x/1",
		domain.PoisonEvent: "/admin/inbox/op_x/1", domain.AlteredEvent: "/admin/inbox/op_x/1", "event_unreadable": "/admin/inbox/op_x/1",
		"reconcile_unknown_charge": "/admin/orders?q=op_x%2F1", domain.PaymentInDoubt: "", "refund_failed": "",
	} {
		if got := plainLink(domain.Attention{Kind: kind, About: "op_x/1"}); got != want {
			t.Errorf("%s leads to %q, want %q", kind, got, want)
		}
	}
}
