package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
)

// fake is a shop in memory: the rules of the real one that pages depend on, and a counter for every
// effect. Its fields may be changed by a test before or between requests.
type fake struct {
	mu       sync.Mutex
	now      time.Time
	products []domain.Product
	drafts   map[string]domain.Draft
	orders   []domain.Order
	ordersOf map[int64]string
	payments []domain.Payment
	changes  []domain.Modification
	messages map[int64]domain.Message
	mails    []domain.Mail
	records  map[string]record
	replays  int
	renewals int

	placeFails, payFails, contactFails error // what the next call of an operation gives, once
	readFails                          error // what every look-up gives
	slow                               time.Duration
	onPlace                            func(*fake)       // runs while an order is being placed
	onContact                          func(*fake) error // runs in place of taking in a message
}

type record struct {
	in    string
	reply idempotent.Reply
	made  string
}

func newFake() *fake {
	f := &fake{
		now: time.Date(2026, 11, 30, 13, 5, 0, 0, time.UTC), drafts: map[string]domain.Draft{},
		ordersOf: map[int64]string{}, messages: map[int64]domain.Message{}, records: map[string]record{},
	}
	for _, p := range []struct {
		sku   string
		price int64
		stock int64
	}{
		{"mug", 1850, 1000}, {"teapot", 5400, 1000}, {"bowl", 3200, 1000}, {"vase", 4100, 1000},
		{"lamp", 8900, 3}, {"notebook", 1450, 1000}, {"candle", 1250, 1000}, {"plate", 2400, 1000},
	} {
		f.products = append(f.products, domain.Product{SKU: p.sku, Name: p.sku, Price: domain.EUR(p.price), Stock: p.stock})
	}
	return f
}

func (f *fake) config() web.Config {
	return web.Config{
		Ops: web.Ops{
			PlaceOrder:    operation[api.PlaceOrder, api.Order]{f, "orders", f.place, &f.placeFails},
			PayOrder:      operation[api.PayOrder, api.Payment]{f, "payments", f.pay, &f.payFails},
			SubmitContact: operation[api.SubmitContact, api.ContactMessage]{f, "messages", f.contact, &f.contactFails},
		},
		Reader: f, Drafts: f, BaseURL: "http://shop.test", Demo: true, SessionSecret: []byte(strings.Repeat("s", 32)),
		Now: func() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return f.now },
	}
}

// operation keeps answers by consumer and key as the engine does.
type operation[In, Out any] struct {
	f     *fake
	name  string
	run   func(domain.Consumer, In) (Out, string, error)
	fails *error
}

func (o operation[In, Out]) Do(_ context.Context, c domain.Consumer, k domain.Key, in In) (idempotent.Reply, error) {
	time.Sleep(o.f.slow)
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	name, text := fmt.Sprint(o.name, c.ID, k.String()), fmt.Sprintf("%+v", in)
	if known, ok := o.f.records[name]; ok {
		if known.in != text {
			return idempotent.Reply{}, &domain.Error{Kind: domain.Conflict, Code: "idempotency_key_reused", Message: "reused", Resource: known.made}
		}
		o.f.replays++
		known.reply.Replayed = true
		return known.reply, nil
	}
	if err := *o.fails; err != nil {
		*o.fails = nil
		return idempotent.Reply{}, err
	}
	out, made, err := o.run(c, in)
	var body any = out
	status := 201
	if err != nil {
		if !domain.KindOf(err).Final() {
			return idempotent.Reply{}, err
		}
		body, status = err, 422
	}
	bytes, err := json.Marshal(body)
	reply := idempotent.Reply{Answer: domain.Answer{Status: status, Body: bytes}}
	o.f.records[name] = record{text, reply, made}
	return reply, err
}

func (o operation[In, Out]) Output(r idempotent.Reply) (out Out, err error) {
	if r.Answer.Status < 300 {
		return out, json.Unmarshal(r.Answer.Body, &out)
	}
	refusal := &domain.Error{}
	if err := json.Unmarshal(r.Answer.Body, refusal); err != nil {
		return out, err
	}
	return out, refusal
}

func (f *fake) place(c domain.Consumer, in api.PlaceOrder) (out api.Order, made string, err error) {
	if f.onPlace != nil {
		f.onPlace(f)
	}
	catalogue := map[string]domain.Product{}
	for _, p := range f.products {
		catalogue[p.SKU] = p
	}
	order, err := domain.NewOrder(domain.OrderDraft{Email: in.Email, Name: in.Name, Address: in.Address, Items: in.Items, Language: in.Language}, catalogue)
	if err != nil {
		return out, "", err
	}
	for index, line := range order.Lines {
		if catalogue[line.SKU].Stock < line.Quantity {
			return out, "", order.SoldOut(index)
		}
	}
	n := len(f.orders) + 1
	order.Consumer, order.Language = c.ID, in.Language
	order.ID, order.Number, order.Token, order.CreatedAt = fmt.Sprintf("o%d", n), fmt.Sprintf("EM-7K4Q-%dM", n), fmt.Sprintf("token%d", n), f.now
	for i := range f.products {
		for _, line := range order.Lines {
			if f.products[i].SKU == line.SKU {
				f.products[i].Stock -= line.Quantity
			}
		}
	}
	f.orders = append(f.orders, order)
	f.ordersOf[c.ID] = order.ID
	return api.Order{ID: order.ID, Number: order.Number, Status: order.Status, Total: order.Total}, "/v1/orders/" + order.ID, nil
}

func (f *fake) pay(_ domain.Consumer, in api.PayOrder) (out api.Payment, made string, err error) {
	at := slices.IndexFunc(f.orders, func(o domain.Order) bool { return o.ID == in.OrderID })
	order := &f.orders[at]
	if order.Status == domain.OrderPaid {
		return out, "", domain.Errorf(domain.Refused, "already_paid", "Already paid.")
	}
	p := domain.Payment{ID: fmt.Sprintf("00000000-0000-7000-8000-%012d", len(f.payments)+1), OrderID: order.ID, Method: in.Method, Amount: order.Total, Status: domain.PaymentPaid, CreatedAt: f.now}
	if i := slices.IndexFunc(f.payments, func(p domain.Payment) bool { return p.OrderID == order.ID && p.Status == domain.PaymentUnknown }); i >= 0 {
		f.payments[i].Status = domain.PaymentPaid // the bank was asked again and knows
		p = f.payments[i]
	} else {
		switch in.Method.Token {
		case "tok_3ds", "": // a bank transfer has no token
			p.Status, p.RedirectURL = domain.PaymentPending, fmt.Sprintf("https://bank.test/testbank/ch%d?s=secret", len(f.payments)+1)
		case "tok_declined":
			p.Status = domain.PaymentDeclined
		case "tok_charged_then_timeout", "tok_charged_then_500":
			p.Status = domain.PaymentUnknown
		}
		f.payments = append(f.payments, p)
	}
	switch p.Status {
	case domain.PaymentDeclined:
		return out, "", domain.Errorf(domain.Declined, "card_declined", "Declined.")
	case domain.PaymentUnknown:
		return out, "", domain.Errorf(domain.Unknown, "outcome_unknown", "Unknown.")
	case domain.PaymentPaid:
		f.settle(order)
	}
	return api.Payment{ID: p.ID, OrderID: order.ID, Status: p.Status, Amount: p.Amount}, "/v1/payments/" + p.ID, nil
}

func (f *fake) settle(order *domain.Order) {
	order.Status = domain.OrderPaid
	f.mails = append(f.mails, domain.Mail{ID: order.ID, Kind: "order_paid", About: order.ID, To: order.Email, Language: order.Language,
		Subject: "Order " + order.Number, Text: "Thank you.\n\nWe received your payment once.", CreatedAt: f.now})
}

// bankSays is the provider's word on the nth payment, as an event brings it.
func (f *fake) bankSays(n int, status domain.PaymentStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &f.payments[n-1]
	at := slices.IndexFunc(f.orders, func(o domain.Order) bool { return o.ID == p.OrderID })
	p.Status, p.RedirectURL, p.ChargeID = status, "", "ch"
	if status != domain.PaymentPaid {
		return
	}
	p.Captured, p.Refunded.Currency = p.Amount, p.Amount.Currency
	if f.orders[at].Status == domain.OrderAwaitingPayment {
		f.settle(&f.orders[at])
	} else {
		p.Status = domain.PaymentDuplicate
		f.changes = append(f.changes, domain.Modification{PaymentID: p.ID, Kind: domain.Refund, Status: domain.ModificationPending, Amount: p.Captured})
	}
}

func (f *fake) contact(c domain.Consumer, in api.SubmitContact) (out api.ContactMessage, made string, err error) {
	if f.onContact != nil {
		return out, "", f.onContact(f)
	}
	m := domain.Message{ID: "m", Reference: fmt.Sprintf("C-%d", 58+len(f.messages)), Name: in.Name, Email: in.Email, Text: in.Message}
	f.messages[c.ID] = m
	return api.ContactMessage{ID: m.ID, Reference: m.Reference}, "", nil
}

func (f *fake) Products(context.Context) ([]domain.Product, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.products), f.readFails
}

func (f *fake) Payment(_ context.Context, id string) (domain.Payment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.payments {
		if p.ID == id {
			return p, f.readFails
		}
	}
	return domain.Payment{}, domain.Errorf(domain.NotFound, "payment_not_found", "There is no such payment.")
}

func (f *fake) Order(_ context.Context, id string) (domain.Order, error) {
	return f.orderWhere(func(o domain.Order) bool { return o.ID == id })
}

func (f *fake) OrderByNumber(_ context.Context, number string) (domain.Order, error) {
	return f.orderWhere(func(o domain.Order) bool { return o.Number == number })
}

func (f *fake) OrdersByID(_ context.Context, ids []string) (all []domain.Order, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range slices.Backward(f.orders) {
		if slices.Contains(ids, o.ID) {
			all = append(all, o)
		}
	}
	return all, f.readFails
}

func (f *fake) orderWhere(is func(domain.Order) bool) (domain.Order, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.orders, is); i >= 0 {
		return f.orders[i], f.readFails
	}
	return domain.Order{}, domain.Errorf(domain.NotFound, "order_not_found", "There is no such order.")
}

func (f *fake) OrderOf(_ context.Context, consumer int64) (domain.Order, bool, error) {
	f.mu.Lock()
	id, ok := f.ordersOf[consumer]
	f.mu.Unlock()
	if !ok {
		return domain.Order{}, false, f.readFails
	}
	o, err := f.orderWhere(func(o domain.Order) bool { return o.ID == id })
	return o, err == nil, err
}

func (f *fake) ModificationsOf(_ context.Context, paymentID string) (all []domain.Modification, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.changes {
		if m.PaymentID == paymentID {
			all = append(all, m)
		}
	}
	return all, f.readFails
}

func (f *fake) PaymentsOf(_ context.Context, orderID string) (all []domain.Payment, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.payments {
		if p.OrderID == orderID {
			all = append(all, p)
		}
	}
	return all, f.readFails
}

func (f *fake) MessageOf(_ context.Context, consumer int64) (domain.Message, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, ok := f.messages[consumer]
	return m, ok, f.readFails
}

func (f *fake) MailsAbout(_ context.Context, id string) (all []domain.Mail, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.mails {
		if m.About == id {
			all = append(all, m)
		}
	}
	return all, f.readFails
}

func (f *fake) Mails(context.Context, int) ([]domain.Mail, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.mails), f.readFails
}

func (f *fake) Draft(_ context.Context, id string) (domain.Draft, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.drafts[id]
	if !ok {
		return d, domain.Errorf(domain.NotFound, "checkout_not_found", "There is no such checkout.")
	}
	return d, f.readFails
}

func (f *fake) StartDraft(_ context.Context, d domain.Draft) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.drafts[d.ID]; !ok {
		f.drafts[d.ID] = d
	}
	return nil
}

func (f *fake) SaveDraft(_ context.Context, d domain.Draft) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.drafts[d.ID]
	kept.Email, kept.Name, kept.Address, kept.Method, kept.Language = d.Email, d.Name, d.Address, d.Method, d.Language
	f.drafts[d.ID] = kept
	return nil
}

func (f *fake) RenewPaymentKey(_ context.Context, id, old, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.drafts[id]; d.PaymentKey == old {
		d.PaymentKey = key
		f.drafts[id] = d
		f.renewals++
	}
	return nil
}
