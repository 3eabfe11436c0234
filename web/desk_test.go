package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/eenmaal/domain"
)

// atTheDesk signs in and has one order that is paid.
func atTheDesk(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	b.review("", "tok_ok")
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
	pay := &b.payments[0]
	pay.Captured, pay.Refunded, pay.ChargeID = pay.Amount, domain.EUR(0), "ch_1"
	b.signIn("", "")
	b.want(200, "/admin/orders", "order-EM-7K4Q-1M")
	return b
}

// TestAnotherSiteCanNeitherSignInNorRefund covers S16 and S17.
func TestAnotherSiteCanNeitherSignInNorRefund(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	sessions := fmt.Sprint(b.desk.sessions)
	foreign := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}
	b.do("POST", "/admin/sign-in", url.Values{}, foreign)
	if b.last.status != 403 || b.last.header.Get("Set-Cookie") != "" || fmt.Sprint(b.desk.sessions) != sessions {
		t.Errorf("the sign-in: %d", b.last.status)
	}
	path, form := b.refundForm()
	form.Set("amount", "1")
	if b.do("POST", path, form, foreign); b.last.status != 403 || len(b.desk.changes) != 0 {
		t.Errorf("the refund: %d", b.last.status)
	}
}

func (b *bundle) refundForm() (path string, form url.Values) {
	b.t.Helper()
	b.get("/admin/orders/EM-7K4Q-1M/payments/" + b.payments[0].ID + "/refund")
	b.want(200, "/admin/orders/EM-7K4Q-1M/payments/"+b.payments[0].ID+"/refund/", "action-form", "field-amount")
	return b.last.form(b.t, b.last.path)
}

func TestARefundThatIsPressedTwiceIsOne(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/admin/orders/EM-7K4Q-1M")
	b.want(200, "/admin/orders/EM-7K4Q-1M", "to-refund", "to-cancel", "payment")
	if b.last.has("to-capture") || b.last.has("to-void") {
		t.Error("the page offers what is not possible")
	}
	path, form := b.refundForm()
	if !strings.Contains(b.last.body, `value="41.95"`) {
		t.Error("the form does not offer all that is left")
	}
	form.Set("amount", "5,00")
	for range 2 {
		b.post(path, form)
		b.want(200, "/admin/orders/EM-7K4Q-1M?done=", "done", "change-refund", "action-row")
		if !strings.Contains(b.last.body, "€5.00 was refunded.") {
			t.Error("the page does not say what was done")
		}
	}
	if b.get(path); !b.last.has("done") { // Back, or a second tab
		t.Errorf("the form that was sent: %s", b.last.path)
	}
	form.Set("amount", "6.00")
	b.post(path, form) // another amount with the same key
	b.want(409, path, "action-problem", "start-again")
	if len(b.desk.changes) != 1 || len(b.desk.actions) != 1 || b.desk.actions[0].Staff != "staff" || b.desk.actions[0].Action != "refund" {
		t.Errorf("changes %v, actions %v", b.desk.changes, b.desk.actions)
	}
}

func TestAWrongAmountIsToldAndKept(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	path, form := b.refundForm()
	for typed, sentence := range map[string]string{
		"": "Enter an amount", "abc": "such as 12.50", "1.234,50": "such as 12.50", "-5": "such as 12.50", "1e3": "such as 12.50", "5.005": "such as 12.50",
		"0": "more than nothing", "41.96": "not that large", "9999999999": "such as 12.50", "<b>1": "such as 12.50",
	} {
		form.Set("amount", typed)
		b.post(path, form)
		b.want(422, path, "error-summary", "error-amount")
		if !strings.Contains(b.last.body, sentence) || strings.Contains(b.last.body, "<b>1") || typed == "abc" && !strings.Contains(b.last.body, `value="abc"`) {
			t.Errorf("%q: not told %q, or not kept", typed, sentence)
		}
	}
	if len(b.desk.changes) != 0 || len(b.desk.actions) != 0 {
		t.Error("something was done")
	}
	for typed, cents := range map[string]int64{"1": 100, " 1.5 ": 150, "€ 1,25": 125, "2,05": 205} {
		path, form := b.refundForm()
		form.Set("amount", typed)
		b.post(path, form)
		b.want(200, "/admin/orders/EM-7K4Q-1M?done=", "done")
		if got := b.desk.changes[len(b.desk.changes)-1].Amount; got != domain.EUR(cents) {
			t.Errorf("%q was %v", typed, got)
		}
	}
}

// TestWhatCameOfAPressIsTold: a refusal, and what is not known yet.
func TestWhatCameOfAPressIsTold(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	path, form := b.refundForm()
	b.desk.changeFails = domain.Errorf(domain.Unknown, "outcome_unknown", "Unknown.")
	form.Set("amount", "5")
	b.post(path, form)
	b.want(503, path, "action-problem", "action-form")
	if !strings.Contains(b.last.body, "it counts once") || !strings.Contains(b.last.body, `value="5"`) || b.last.header.Get("Retry-After") == "" {
		t.Error("the page does not say that pressing again is safe, or forgot the amount")
	}
	b.post(path, form)
	b.want(200, "/admin/orders/EM-7K4Q-1M?done=", "done")
	path, form = b.refundForm()
	form.Set("amount", "41.95") // more than is left
	b.post(path, form)
	b.want(422, path, "action-problem", "start-again")
	if b.last.has("action-form") || !strings.Contains(b.last.body, "more than is left to refund") {
		t.Error("the page does not say why, or offers the form again")
	}
	if len(b.desk.changes) != 1 {
		t.Errorf("%d refunds", len(b.desk.changes))
	}
}

func TestWhatCannotBeNotedIsNotDone(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	path, form := b.refundForm()
	form.Set("amount", "5")
	b.desk.noteFails = errors.New("no database")
	b.post(path, form)
	b.want(503, path, "problem")
	if len(b.desk.changes) != 0 {
		t.Error("a refund by nobody")
	}
}

func TestAnOrderIsCancelledOnce(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/nl/admin/orders/EM-7K4Q-1M/cancel")
	b.want(200, "/nl/admin/orders/EM-7K4Q-1M/cancel/", "action-form")
	path, form := b.last.form(t, b.last.path)
	for range 2 {
		b.post(path, form)
		b.want(200, "/nl/admin/orders/EM-7K4Q-1M?done=", "done")
	}
	b.get("/admin/orders/EM-7K4Q-1M/cancel")
	b.want(200, "/admin/orders/EM-7K4Q-1M/cancel/", "action-problem")
	if b.last.has("action-form") {
		t.Error("a cancelled order can be cancelled")
	}
	if len(b.desk.actions) != 1 {
		t.Errorf("actions: %v", b.desk.actions)
	}
}

// TestTheDeskOffersWhatIsPossible with a reservation, before and after its order was cancelled.
func TestTheDeskOffersWhatIsPossible(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.payments[0].Status, b.payments[0].Captured, b.payments[0].Manual = domain.PaymentAuthorized, domain.EUR(0), true
	for status, offers := range map[domain.OrderStatus][]string{
		domain.OrderAwaitingPayment: {"to-capture", "to-void", "to-cancel"}, domain.OrderCancelled: {"to-void"},
	} {
		b.orders[0].Status = status
		b.get("/admin/orders/EM-7K4Q-1M")
		for _, id := range []string{"to-refund", "to-capture", "to-void", "to-cancel"} {
			if got, want := b.last.has(id), slices.Contains(offers, id); got != want {
				t.Errorf("%s: %s is offered: %t, want %t", status, id, got, want)
			}
		}
	}
}

func TestOrdersAreFoundAndChosen(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/admin/orders?q=EM-7K4Q-1M&status=paid")
	b.want(200, "/admin/orders", "order-row")
	b.get("/admin/orders?q=nobody")
	b.want(200, "/admin/orders", "list-empty")
	if !strings.Contains(b.last.body, "Nothing matches.") || !strings.Contains(b.last.body, `value="nobody"`) {
		t.Error("the empty list does not say why, or forgot what was searched for")
	}
	b.get("/admin/orders?status=nonsense")
	b.want(200, "/admin/orders", "order-row")
	b.get("/admin/orders/EM-NONE")
	b.want(404, "/admin/orders/EM-NONE")
	b.readFails = errors.New("no database")
	b.get("/admin/orders")
	b.want(503, "/admin/orders", "problem")
}

// TestHostileTextIsTextAtTheDesk covers S21.
func TestHostileTextIsTextAtTheDesk(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	b.orders[0].Name, b.orders[0].Email, b.orders[0].Address.City = hostile, hostile, hostile
	for _, path := range []string{"/admin/orders", "/admin/orders/EM-7K4Q-1M", "/admin/orders?q=" + url.QueryEscape(hostile), "/admin/orders/EM-7K4Q-1M?done=" + url.QueryEscape(hostile)} {
		if b.get(path); strings.Contains(b.last.body, "<script>alert") || strings.Contains(b.last.body, "<img src=x") {
			t.Errorf("%s holds markup of a customer", path)
		}
	}
}
