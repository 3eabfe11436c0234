// Package smtp sends the shop's mails through an SMTP server.
package smtp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"

	"example.com/eenmaal/domain"
)

// Mailer sends through one server. It implements domain.Mailer.
type Mailer struct {
	client *mail.Client
	from   string
}

// sendTimeout covers one whole conversation with the server.
const sendTimeout = 15 * time.Second

// New makes a Mailer for smtp://[user:password@]host[:port] (STARTTLS where the server offers it) or
// smtps://... (TLS from the start). from is the sender's address. It does not connect.
func New(address, from string) (*Mailer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, errors.New("SMTP_URL must look like smtp://user:password@host:587") // its text may hold a password
	}
	options := []mail.Option{mail.WithTimeout(sendTimeout), mail.WithTLSPolicy(mail.TLSOpportunistic)}
	port := 25
	if u.Scheme == "smtps" {
		options, port = append(options, mail.WithSSL()), 465
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, errors.New("SMTP_URL has a port that is no number")
		}
	}
	options = append(options, mail.WithPort(port))
	if u.User != nil {
		password, _ := u.User.Password()
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	client, err := mail.NewClient(u.Hostname(), options...)
	if err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}
	return &Mailer{client: client, from: from}, nil
}

// Send hands one mail over. The Message-ID is the mail's own and the date that of its making, so a
// second try is the same mail. With an error the server may have it all the same.
func (m *Mailer) Send(ctx context.Context, one domain.Mail) error {
	msg := mail.NewMsg()
	if err := msg.From(m.from); err != nil {
		return fmt.Errorf("sender: %w", err)
	}
	if err := msg.To(one.To); err != nil {
		return errors.New("the recipient is not an address") // the address itself stays out of logs
	}
	msg.Subject(one.Subject)
	msg.SetMessageIDWithValue(one.MessageID)
	msg.SetDateWithValue(one.CreatedAt)
	msg.SetBodyString(mail.TypeTextPlain, one.Text)
	return m.converse(ctx, msg)
}

// converse sends until the server has the mail or ctx ends. go-mail heeds a context only while it
// connects, so what still waits then is left to its own time limits.
func (m *Mailer) converse(ctx context.Context, msg *mail.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		err := m.client.DialAndSendWithContext(ctx, msg)
		if msg.IsDelivered() {
			err = nil // only the goodbye went wrong
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the conversation with the mail server was cut short: %w", ctx.Err())
	}
}
