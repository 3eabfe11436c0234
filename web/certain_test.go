package web_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
)

// TestTheWaitingPageSaysWhatIsKnown: in each state it names what is in doubt, and a button that orders and
// pays says so.
func TestTheWaitingPageSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	const order, begun, payment = "We do not know yet if your order arrived", "We do not know yet if your payment has begun", "We do not know yet if your payment went through"
	for _, tt := range []struct {
		name         string
		bring        func(*bundle) (attempt string)
		says, button string
		kept         string
	}{
		{"nothing ordered", func(b *bundle) string { return b.review("", "tok_ok") }, order, "Order and pay €41.95", "What you filled in is kept."},
		{"ordered, no payment", func(b *bundle) string {
			b.payFails = domain.Errorf(domain.Unavailable, "x", "Trouble.")
			return b.ordered("tok_ok")
		}, begun, "Order and pay €41.95", "your order is kept"},
		{"payment unknown", func(b *bundle) string { return b.ordered("tok_charged_then_timeout") }, payment, "Check now", "your order is kept"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			attempt := tt.bring(b)
			b.get("/checkout/" + attempt + "/status")
			b.want(200, "/checkout/"+attempt+"/status", "payment-status", "check-now")
			for _, said := range []string{order, begun, payment} {
				if got := strings.Contains(b.last.body, said); got != (said == tt.says) {
					t.Errorf("it says %q: %v", said, got)
				}
			}
			for _, said := range []string{"Order and pay €41.95", "Check now"} {
				if got := strings.Contains(b.last.body, "<span data-label>"+said); got != (said == tt.button) {
					t.Errorf("its button says %q: %v", said, got)
				}
			}
			if !strings.Contains(b.last.body, tt.kept) || strings.Contains(b.last.body, "Waiting for the bank") != (tt.says == payment) {
				t.Error("it says that something is kept, or waited for, which is not")
			}
			if b.last.has("press-on") != (tt.says == payment) {
				t.Error("only a payment may have stopped before the bank, and only its page says how to go on with it")
			}
			b.pay()
			b.want(200, "/orders/", "order-paid")
		})
	}
}

// TestACommitWithoutAnAnswerIsNoNo: the database was lost while the order was being written, so it may be
// there. The page does not say that it was not placed.
func TestACommitWithoutAnAnswerIsNoNo(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{domain.Errorf(domain.Unavailable, "store_unavailable", "The answer was lost."), errors.New("unforeseen")} {
		b := setup(t)
		attempt := b.review("", "tok_ok")
		b.placeFails = cause
		b.pay()
		b.want(200, "/checkout/"+attempt+"/status", "unknown", "check-now")
		if b.last.has("nothing-charged") {
			t.Errorf("%v: the page says that the order was not placed", cause)
		}
		b.pay()
		b.want(200, "/orders/", "order-paid")
		b.wantEffects(1, 1, 1)
	}
}

// TestNothingIsLeftToGoOnWith: when all of it is sold out, the page does not offer the rest.
func TestNothingIsLeftToGoOnWith(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok") // mugs
	b.products[0].Stock = 0
	b.get("/checkout/" + attempt + "/review")
	b.want(200, "/checkout/"+attempt+"/review", "sold-out", "nothing-left")
	if b.last.has("order-rest") {
		t.Error("it offers to go on with nothing")
	}
	b.products[0].Stock = 1
	b.get("/checkout/" + attempt + "/review")
	b.want(200, "/checkout/"+attempt+"/review", "sold-out", "order-rest")
}

// TestTheConfirmationIsToldAsItStands: a mail that was written is not a mail that was sent.
func TestTheConfirmationIsToldAsItStands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		demo     bool
		change   func(*domain.Mail)
		id, says string
	}{
		{true, func(*domain.Mail) {}, "mail-sent", "One mail to s...@example.nl, in the mailbox"},
		{true, func(m *domain.Mail) { m.SentAt = time.Unix(1, 0) }, "mail-sent", "One mail sent to s...@example.nl"},
		{false, func(*domain.Mail) {}, "mail-coming", "On its way to s...@example.nl"},
		{false, func(m *domain.Mail) { m.SentAt = time.Unix(1, 0) }, "mail-sent", "One mail sent to s...@example.nl"},
		{false, func(m *domain.Mail) { m.DeadAt = time.Unix(1, 0) }, "mail-dead", "The mail to s...@example.nl could not be sent. This page is your confirmation."},
		{false, func(m *domain.Mail) { m.Kind = "refunded" }, "mail-coming", "On its way to s...@example.nl"},
	} {
		b := setup(t, func(c *web.Config) { c.Demo = tt.demo })
		b.review("", "tok_ok")
		b.pay()
		b.want(200, "/orders/", "order-paid")
		tt.change(&b.mails[0])
		b.get(b.last.path)
		b.want(200, "/orders/", tt.id)
		if !strings.Contains(b.last.body, tt.says+"</dd>") {
			t.Errorf("demo %v: the page does not say %q", tt.demo, tt.says)
		}
	}
}

// TestAMailIsInItsOwnLanguage: the mailbox shows Dutch mails on English pages too, and a reader must
// pronounce them.
func TestAMailIsInItsOwnLanguage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("/nl", "tok_ok")
	b.pay()
	b.get("/mailbox")
	b.want(200, "/mailbox", "mail")
	if !strings.Contains(b.last.body, `<h2 lang="nl">`) || !strings.Contains(b.last.body, `<pre lang="nl">`) {
		t.Error("the mail has no language of its own")
	}
}

// TestADeclinedTransferIsNoCard, and says so.
func TestADeclinedTransferIsNoCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.ordered("ideal")
	b.bankSays(1, domain.PaymentDeclined)
	b.get("/checkout/" + attempt)
	b.want(200, "/checkout/"+attempt, "declined")
	if !strings.Contains(b.last.body, "Your bank declined this payment. Nothing was charged.") || strings.Contains(b.last.body, "declined this card") {
		t.Error("the page speaks of a card")
	}
}

// TestAChargeInDoubtIsNotCountedAsNone: while the bank's answer is lost, the panel does not say 0.
func TestAChargeInDoubtIsNotCountedAsNone(t *testing.T) {
	t.Parallel()
	f := &tales{}
	b := setup(t, withTales(f))
	f.timeline = domain.KeyTimeline{Requests: 1, Events: told(b.now, domain.KeyClaimed)}
	for method, want := range map[string]string{"tok_charged_then_timeout": "not known yet", "tok_declined": `data-testid="sent-charges">0<`} {
		b.ordered(method)
		newest := b.orders[len(b.orders)-1]
		b.get("/orders/" + newest.Number + "?t=" + newest.Token)
		b.want(200, "/orders/", "sent-panel", "sent-charges")
		if !strings.Contains(b.last.body, want) {
			t.Errorf("%s: the panel does not say %s", method, want)
		}
		b.client.Jar = newJar(t)
	}
}
