package admin

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

func TestAPasswordMatchesItsHashAlone(t *testing.T) {
	t.Parallel()
	one, other := HashPassword("correct horse battery"), HashPassword("correct horse battery")
	if one == other {
		t.Error("two hashes have one salt")
	}
	old, err := bcrypt.GenerateFromPassword([]byte("correct horse battery"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{one, other, string(old)} {
		p, err := parsePassword(hash)
		if err != nil {
			t.Fatal(err)
		}
		for typed, want := range map[string]bool{"correct horse battery": true, "correct horse batterx": false, "": false, strings.Repeat("x", 1000): false} {
			if got, err := p.matches(t.Context(), typed); err != nil || got != want {
				t.Errorf("%.10q: %t, %v", typed, got, err)
			}
		}
	}
}

func TestOnlyHashesThatCanBeComparedAreTaken(t *testing.T) {
	t.Parallel()
	good := HashPassword("x")
	for _, bad := range []string{"", "secret", "$2a$", "$2a$99$x", strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "m=19456", "m=4294967295", 1), strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1),
		strings.Replace(good, "m=19456", "m=1", 1), good[:len(good)-30], good + "$", "$argon2id$v=19$m=19456,t=2,p=1$$"} {
		if CheckHash(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestFewPasswordsAreComparedAtATime(t *testing.T) {
	t.Parallel()
	p, err := parsePassword(HashPassword("x"))
	if err != nil {
		t.Fatal(err)
	}
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, err := p.matches(ctx, "x"); ok || err == nil {
		t.Error("one more is compared than there is room for")
	}
}

func TestAnAmountIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, l := range []ui.Lang{ui.English, ui.Dutch} {
		for _, cents := range []int64{1, 10, 99, 100, 4195, 100000, 99999999999} {
			got, mistake := parseAmount(writeAmount(l, domain.EUR(cents)), domain.EUR(99999999999))
			if got != domain.EUR(cents) {
				t.Errorf("%s: %d was read as %v (%s)", l, cents, got, mistake.En)
			}
		}
	}
}

// TestACustomersNetworkIsOneSubject: somebody with IPv6 has more addresses than can be counted.
func TestACustomersNetworkIsOneSubject(t *testing.T) {
	t.Parallel()
	if network("2001:db8:1:2::1") != network("2001:db8:1:2:ffff::9") || network("2001:db8:1:2::1") == network("2001:db8:1:3::1") {
		t.Error("a network of IPv6 is not one")
	}
	if network("192.0.2.1") == network("192.0.2.2") || network("nonsense") != "nonsense" {
		t.Error("addresses of IPv4 are not apart")
	}
}

// TestEveryStateHasAWord: a state that the books can hold is told on the pages.
func TestEveryStateHasAWord(t *testing.T) {
	t.Parallel()
	for _, s := range []domain.PaymentStatus{domain.PaymentProcessing, domain.PaymentUnknown, domain.PaymentPending, domain.PaymentAuthorized, domain.PaymentDeclined,
		domain.PaymentFailed, domain.PaymentVoided, domain.PaymentPaid, domain.PaymentDuplicate, domain.PaymentRefunded} {
		if paymentWords[s].text == (ui.Text{}) {
			t.Errorf("%s has no word", s)
		}
	}
	for _, s := range []domain.ModificationStatus{domain.ModificationPending, domain.ModificationSucceeded, domain.ModificationFailed} {
		if changeWords[s].text == (ui.Text{}) {
			t.Errorf("%s has no word", s)
		}
	}
}
