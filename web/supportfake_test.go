package web_test

import (
	"context"
	"slices"
	"strings"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
)

// supportFake is what the desk's pages of support look up and change, newest last.
type supportFake struct {
	d          *deskFake
	flags      []domain.Attention
	messages   []domain.Message
	mails      []domain.Mail
	events     []domain.InboxEvent
	deliveries []domain.Delivery
	endpoints  []domain.WebhookEndpoint
	jobs       []domain.DeadJob
	perPage    int      // rows of a part; all when zero
	breakAfter int      // parts after which reading fails; never when zero
	parts      int      // that were read
	did        []string // what was done, by whom
	asked      []domain.Listing
}

// partOf gives the part of a list that was asked for.
func partOf[T any](s *supportFake, all []T, l domain.Listing, id func(T) string, fits func(T) bool) (part domain.Part[T], err error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.asked = append(s.asked, l)
	s.parts++
	if s.d.readFails != nil || s.breakAfter > 0 && s.parts > s.breakAfter {
		return part, domain.Errorf(domain.Unavailable, "store_unavailable", "The database cannot be reached.")
	}
	for _, one := range slices.Backward(all) {
		if l.Before != "" && id(one) >= l.Before || !fits(one) {
			continue
		}
		if s.perPage > 0 && len(part.Items) == s.perPage {
			part.Older = id(part.Items[s.perPage-1])
			return part, nil
		}
		part.Items = append(part.Items, one)
	}
	return part, nil
}

func find[T any](s *supportFake, all []T, is func(T) bool) (one T, err error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], s.d.readFails
	}
	return one, domain.Errorf(domain.NotFound, "not_found", "There is no such thing.")
}

func anything[T any](T) bool { return true }

func (d *deskFake) ListAttention(_ context.Context, l domain.Listing) (domain.Part[domain.Attention], error) {
	return partOf(&d.support, d.support.flags, l, func(a domain.Attention) string { return a.ID },
		func(a domain.Attention) bool { return a.Open() == (l.State != domain.FlagSettled) })
}

func (d *deskFake) Flagged(_ context.Context, id string) (domain.Attention, error) {
	return find(&d.support, d.support.flags, func(a domain.Attention) bool { return a.ID == id })
}

func (d *deskFake) Order(ctx context.Context, id string) (domain.Order, error) {
	return d.fake.Order(ctx, id)
}

func (d *deskFake) Payment(ctx context.Context, id string) (domain.Payment, error) {
	return d.fake.Payment(ctx, id)
}

func (d *deskFake) Modification(_ context.Context, id string) (domain.Modification, error) {
	return find(&d.support, d.changes, func(m domain.Modification) bool { return m.ID == id })
}

func (d *deskFake) ListMessages(_ context.Context, l domain.Listing) (domain.Part[domain.Message], error) {
	return partOf(&d.support, d.support.messages, l, func(m domain.Message) string { return m.ID }, func(m domain.Message) bool {
		open := m.AnsweredAt.IsZero()
		return strings.Contains(m.Text+m.Reference, l.Text) && (l.State == "" || open == (l.State == domain.MessageOpen))
	})
}

func (d *deskFake) Message(_ context.Context, id string) (domain.Message, error) {
	return find(&d.support, d.support.messages, func(m domain.Message) bool { return m.ID == id })
}

func (d *deskFake) ListMails(_ context.Context, l domain.Listing) (domain.Part[domain.Mail], error) {
	return partOf(&d.support, d.support.mails, l, func(m domain.Mail) string { return m.ID },
		func(m domain.Mail) bool {
			return (l.Text == "" || l.Text == m.To) && (l.State == "" || l.State == string(m.State()))
		})
}

func (d *deskFake) Mail(_ context.Context, id string) (domain.Mail, error) {
	return find(&d.support, d.support.mails, func(m domain.Mail) bool { return m.ID == id })
}

func (d *deskFake) ListInbox(_ context.Context, l domain.Listing) (domain.Part[domain.InboxEvent], error) {
	return partOf(&d.support, d.support.events, l, func(e domain.InboxEvent) string { return e.ID },
		func(e domain.InboxEvent) bool {
			return (l.Text == "" || l.Text == e.EventID) && (l.State == "" || l.State == string(e.State))
		})
}

func (d *deskFake) InboxEvent(_ context.Context, id string) (domain.InboxEvent, error) {
	return find(&d.support, d.support.events, func(e domain.InboxEvent) bool { return e.ID == id })
}

func (d *deskFake) ListDeliveries(_ context.Context, l domain.Listing) (domain.Part[domain.Delivery], error) {
	return partOf(&d.support, d.support.deliveries, l, func(v domain.Delivery) string { return v.ID },
		func(v domain.Delivery) bool {
			return (l.Text == "" || l.Text == v.EventID) && (l.State == "" || l.State == string(v.State))
		})
}

func (d *deskFake) Delivery(_ context.Context, id string) (domain.Delivery, error) {
	return find(&d.support, d.support.deliveries, func(v domain.Delivery) bool { return v.ID == id })
}

func (d *deskFake) ListWebhookEndpoints(_ context.Context, l domain.Listing) (domain.Part[domain.WebhookEndpoint], error) {
	return partOf(&d.support, d.support.endpoints, l, func(e domain.WebhookEndpoint) string { return e.ID }, anything)
}

func (d *deskFake) WebhookEndpoint(_ context.Context, id string) (domain.WebhookEndpoint, error) {
	return find(&d.support, d.support.endpoints, func(e domain.WebhookEndpoint) bool { return e.ID == id })
}

func (d *deskFake) Event(_ context.Context, id string) (domain.Event, error) {
	return domain.Event{ID: id, Type: "order.paid", Data: `{"id":"o1"}`}, nil
}

func (d *deskFake) DeskCounts(context.Context) (domain.DeskCounts, error) {
	return domain.DeskCounts{DeadMails: domain.MaxDeskCount, DeadDeliveries: 1, PoisonEvents: 1}, d.readFails
}

func (s *supportFake) Counts(context.Context) (domain.JobCounts, error) {
	return domain.JobCounts{Waiting: 3, Dead: len(s.jobs)}, s.d.readFails
}

func (s *supportFake) Dead(context.Context, int) ([]domain.DeadJob, error) {
	return s.jobs, s.d.readFails
}

// change does something to a row once: what is done twice is done by who was first.
func change[T any](s *supportFake, all []T, is func(T) bool, what string, do func(*T) bool) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return domain.Errorf(domain.NotFound, "not_found", "There is no such thing.")
	}
	if do(&all[i]) {
		s.did = append(s.did, what)
	}
	return nil
}

func (s *supportFake) SettleAttention(_ context.Context, id, by string) error {
	return change(s, s.flags, func(a domain.Attention) bool { return a.ID == id }, "settled by "+by, func(a *domain.Attention) bool {
		open := a.Open()
		if open {
			a.SettledAt, a.SettledBy = s.d.now, by
		}
		return open
	})
}

func (s *supportFake) SettleUnknown(_ context.Context, paymentID, found, by string) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	i := slices.IndexFunc(s.d.payments, func(p domain.Payment) bool { return p.ID == paymentID })
	if s.d.payments[i].Status != domain.PaymentUnknown {
		return domain.Errorf(domain.Refused, "payment_not_in_doubt", "The payment is not in doubt.")
	}
	s.d.payments[i].Status = domain.PaymentFailed
	s.did = append(s.did, found+" by "+by)
	for i := range s.flags {
		if s.flags[i].About == paymentID && s.flags[i].Kind == domain.PaymentInDoubt {
			s.flags[i].SettledAt, s.flags[i].SettledBy = s.d.now, by
		}
	}
	return nil
}

func (s *supportFake) AnswerMessage(_ context.Context, id, by string) error {
	return change(s, s.messages, func(m domain.Message) bool { return m.ID == id }, "answered by "+by, func(m *domain.Message) bool {
		open := m.AnsweredAt.IsZero()
		if open {
			m.AnsweredAt, m.AnsweredBy = s.d.now, by
		}
		return open
	})
}

func (s *supportFake) ResendMail(_ context.Context, id, by string) error {
	return change(s, s.mails, func(m domain.Mail) bool { return m.ID == id }, "sent again by "+by, func(m *domain.Mail) bool {
		dead := m.State() == domain.MailGivenUp
		m.DeadAt = m.SentAt
		return dead
	})
}

func (s *supportFake) RetryEvent(_ context.Context, id, by string) error {
	return change(s, s.events, func(e domain.InboxEvent) bool { return e.ID == id }, "tried again by "+by, func(e *domain.InboxEvent) bool {
		retry := e.Retryable()
		if retry {
			e.State = domain.EventReceived
		}
		return retry
	})
}

func (s *supportFake) redeliver(_ domain.Consumer, in api.Redeliver) (out api.Redelivery, made string, err error) {
	i := slices.IndexFunc(s.deliveries, func(v domain.Delivery) bool { return v.ID == in.DeliveryID && v.EndpointID == in.EndpointID })
	s.deliveries[i], err = s.deliveries[i].Again(s.d.now, s.d.now)
	if err == nil {
		s.did = append(s.did, "redelivered")
	}
	return api.Redelivery{Delivery: api.Delivery{ID: in.DeliveryID}}, "", err
}
