package web_test

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
	"example.com/eenmaal/web/admin"
)

// deskFake is what the desk needs beside the shop in memory. What a test does not expect to be read is the
// empty Reader's, which panics.
type deskFake struct {
	*fake
	unfaked
	keysFake
	sessions map[string]domain.StaffSession
	tries    map[string][]time.Time
	actions  []domain.StaffAction
	changes  []domain.Modification
	keys     []domain.KeyUse
	support  supportFake
	broken   error // what everything about sessions gives

	noteFails error // what noting an action gives

	cancelFails, changeFails error // what the next call of an operation gives, once
}

// unfaked lies deeper than what is faked.
type unfaked struct{ admin.Reader }

// withDesk gives the configuration a desk, where anybody signs in with one click.
func (f *fake) withDesk(cfg *web.Config) *deskFake {
	d := &deskFake{fake: f, sessions: map[string]domain.StaffSession{}, tries: map[string][]time.Time{}}
	d.support.d = d
	cfg.Desk = &admin.Config{Reader: d, Sessions: d, Explain: d, Support: &d.support, Jobs: &d.support, OneClick: true, Ops: admin.Ops{
		Redeliver:      deskOperation[api.Redeliver, api.Redelivery]{operation[api.Redeliver, api.Redelivery]{f, "redeliveries", d.support.redeliver, &d.changeFails}, d, "redelivery"},
		CancelOrder:    deskOperation[api.CancelOrder, api.Cancellation]{operation[api.CancelOrder, api.Cancellation]{f, "cancellations", d.cancel, &d.cancelFails}, d, "cancellation"},
		CapturePayment: deskOperation[api.CapturePayment, api.Modification]{operation[api.CapturePayment, api.Modification]{f, "captures", d.capture, &d.changeFails}, d, "capture"},
		VoidPayment:    deskOperation[api.VoidPayment, api.Modification]{operation[api.VoidPayment, api.Modification]{f, "voids", d.void, &d.changeFails}, d, "void"},
		RefundPayment:  deskOperation[api.RefundPayment, api.Modification]{operation[api.RefundPayment, api.Modification]{f, "refunds", d.refund, &d.changeFails}, d, "refund"},
	}}
	return d
}

func (d *deskFake) StartStaffSession(_ context.Context, token, before string, s domain.StaffSession) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken == nil {
		delete(d.sessions, before)
		d.sessions[token] = s
	}
	return d.broken
}

func (d *deskFake) StaffSession(_ context.Context, token string) (domain.StaffSession, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.sessions[token]
	return s, ok && s.ExpiresAt.After(d.now), d.broken
}

func (d *deskFake) SeeStaffSession(_ context.Context, token string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[token]
	s.SeenAt = d.now
	d.sessions[token] = s
	return nil
}

func (d *deskFake) EndStaffSession(_ context.Context, token string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, token)
	return d.broken
}

func (d *deskFake) SignInTries(_ context.Context, subject string, since time.Time, limit int) ([]time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []time.Time
	for _, at := range slices.Backward(d.tries[subject]) {
		if at.After(since) && len(found) < limit {
			found = append(found, at)
		}
	}
	return found, d.broken
}

func (d *deskFake) NoteSignInTry(_ context.Context, subjects []string, _ time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range subjects {
		d.tries[s] = append(d.tries[s], d.now)
	}
	return d.broken
}

func (d *deskFake) ForgetSignInTries(_ context.Context, subjects []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range subjects {
		delete(d.tries, s)
	}
	return d.broken
}

func (d *deskFake) NoteStaffAction(_ context.Context, a domain.StaffAction) (again bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	again = slices.ContainsFunc(d.actions, func(b domain.StaffAction) bool { return b.Key == a.Key && b.Action == a.Action })
	if d.noteFails == nil && !again {
		d.actions = append(d.actions, a)
	}
	return again, d.noteFails
}

func (d *deskFake) StaffActions(context.Context, string) ([]domain.StaffAction, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.actions), nil
}

func (d *deskFake) Orders(_ context.Context, search string, status domain.OrderStatus, _ domain.Cursor) (part domain.Part[domain.Order], err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range slices.Backward(d.orders) {
		if (search == "" || search == o.Number || search == o.Email) && (status == "" || status == o.Status) {
			part.Items = append(part.Items, o)
		}
	}
	return part, d.readFails
}

func (d *deskFake) OrderByNumber(ctx context.Context, number string) (domain.Order, error) {
	return d.fake.OrderByNumber(ctx, number)
}

func (d *deskFake) PaymentsOf(ctx context.Context, orderID string) ([]domain.Payment, error) {
	return d.fake.PaymentsOf(ctx, orderID)
}

func (d *deskFake) ModificationsOf(_ context.Context, paymentID string) (all []domain.Modification, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.changes {
		if m.PaymentID == paymentID {
			all = append(all, m)
		}
	}
	return all, nil
}

func (d *deskFake) MailsOf(ctx context.Context, about []string) ([]domain.Mail, error) {
	return d.fake.MailsAbout(ctx, about[0])
}

func (d *deskFake) EventsAbout(context.Context, []string) ([]domain.Event, error) { return nil, nil }

func (d *deskFake) AttentionAbout(context.Context, []string) ([]domain.Attention, error) {
	return nil, nil
}

// KeysOf reads the keys from the answers that the operations gave.
func (d *deskFake) KeysOf(context.Context, string) (all []domain.KeyUse, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.keys), nil
}

// deskOperation is an operation that the desk calls under its own consumer, and whose keys can be read.
type deskOperation[In, Out any] struct {
	operation[In, Out]
	d    *deskFake
	what string
}

func (o deskOperation[In, Out]) Do(ctx context.Context, c domain.Consumer, k domain.Key, in In) (idempotent.Reply, error) {
	if c != domain.DeskConsumer {
		panic("the desk acts as " + c.Name)
	}
	reply, err := o.operation.Do(ctx, c, k, in)
	var made struct{ ID string }
	if err == nil && !reply.Replayed && reply.Answer.Status < 300 && json.Unmarshal(reply.Answer.Body, &made) == nil {
		o.d.mu.Lock()
		defer o.d.mu.Unlock()
		o.d.keys = append(o.d.keys, domain.KeyUse{What: o.what, ID: made.ID, Consumer: c.ID, Key: k, At: o.d.now})
	}
	return reply, err
}

func (d *deskFake) cancel(_ domain.Consumer, in api.CancelOrder) (out api.Cancellation, made string, err error) {
	at := slices.IndexFunc(d.orders, func(o domain.Order) bool { return o.ID == in.OrderID })
	if d.orders[at].Status == domain.OrderCancelled {
		return out, "", domain.Errorf(domain.Refused, "order_not_cancellable", "The order is cancelled already.")
	}
	d.orders[at].Status = domain.OrderCancelled
	return api.Cancellation{ID: "c", OrderID: in.OrderID, Status: domain.OrderCancelled}, "", nil
}

func (d *deskFake) capture(_ domain.Consumer, in api.CapturePayment) (api.Modification, string, error) {
	return d.change(domain.Capture, in.PaymentID, in.Amount)
}

func (d *deskFake) void(_ domain.Consumer, in api.VoidPayment) (api.Modification, string, error) {
	return d.change(domain.Void, in.PaymentID, api.Amount{})
}

func (d *deskFake) refund(_ domain.Consumer, in api.RefundPayment) (api.Modification, string, error) {
	return d.change(domain.Refund, in.PaymentID, in.Amount)
}

// change decides as the real one does, and is done at once.
func (d *deskFake) change(kind domain.ModificationKind, id string, amount api.Amount) (out api.Modification, made string, err error) {
	at := slices.IndexFunc(d.payments, func(p domain.Payment) bool { return p.ID == id })
	var others []domain.Modification
	for _, m := range d.changes {
		if m.PaymentID == id {
			others = append(others, m)
		}
	}
	m, err := d.payments[at].Modify(kind, amount.Amount, others)
	if err != nil {
		return out, "", err
	}
	m.ID, m.Status, m.Reason, m.CreatedAt = kindID(kind, len(d.changes)), domain.ModificationSucceeded, "requested", d.now
	d.changes = append(d.changes, m)
	return api.Modification{ID: m.ID, PaymentID: id, Status: m.Status, Amount: m.Amount}, "", nil
}

func kindID(kind domain.ModificationKind, n int) string { return string(kind) + string(rune('a'+n)) }
