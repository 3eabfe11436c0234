package smtp_test

import (
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	gosmtp "github.com/emersion/go-smtp"

	"example.com/eenmaal/api/smtp"
	"example.com/eenmaal/domain"
)

// mailServer is a real SMTP server that keeps what it accepts.
type mailServer struct {
	mu     sync.Mutex
	mails  []string
	refuse bool
}

func (s *mailServer) NewSession(*gosmtp.Conn) (gosmtp.Session, error) { return &session{s}, nil }

type session struct{ server *mailServer }

func (s *session) Mail(string, *gosmtp.MailOptions) error { return nil }
func (s *session) Rcpt(string, *gosmtp.RcptOptions) error { return nil }
func (s *session) Reset()                                 {}
func (s *session) Logout() error                          { return nil }
func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.refuse {
		return &gosmtp.SMTPError{Code: 451, Message: "later"}
	}
	s.server.mails = append(s.server.mails, string(text))
	return nil
}

func start(t *testing.T) (*mailServer, *smtp.Mailer) {
	t.Helper()
	s := &mailServer{}
	server := gosmtp.NewServer(s)
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	mailer, err := smtp.New("smtp://"+listener.Addr().String(), "shop@eenmaal.example")
	if err != nil {
		t.Fatal(err)
	}
	return s, mailer
}

func aMail() domain.Mail {
	return domain.Mail{ID: "1", MessageID: "0190a@shop.example", To: "sanne@example.nl", Subject: "Je bestelling is betaald – één keer",
		Text: "Dank je wel.\n€ 41,95\n", CreatedAt: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
}

func TestEveryTryToSendIsTheSameMail(t *testing.T) {
	t.Parallel()
	server, mailer := start(t)
	server.refuse = true
	if err := mailer.Send(t.Context(), aMail()); err == nil {
		t.Fatal("a refused mail gave no error")
	}
	server.refuse = false
	for range 2 {
		if err := mailer.Send(t.Context(), aMail()); err != nil {
			t.Fatal(err)
		}
	}
	if len(server.mails) != 2 {
		t.Fatalf("got %d mails", len(server.mails))
	}
	for _, text := range server.mails {
		m, err := mail.ReadMessage(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Header.Get("Message-ID"); got != "<0190a@shop.example>" {
			t.Errorf("Message-ID %q", got)
		}
		if got := m.Header.Get("To"); got != "<sanne@example.nl>" {
			t.Errorf("To %q", got)
		}
	}
}

// S39: what a customer typed cannot add a header or a recipient.
func TestLineBreaksAddNoHeaders(t *testing.T) {
	t.Parallel()
	server, mailer := start(t)
	hostile := aMail()
	hostile.Subject = "hello\r\nBcc: all@example.com"
	if err := mailer.Send(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(strings.NewReader(server.mails[0]))
	if err != nil {
		t.Fatal(err)
	}
	if m.Header.Get("Bcc") != "" {
		t.Error("a subject added a header")
	}
	hostile = aMail()
	hostile.To = "a@example.com\r\nBcc: all@example.com"
	if err := mailer.Send(t.Context(), hostile); err == nil {
		t.Error("a recipient with a line break was accepted")
	}
}

func TestBadAddressesAreRefusedWithoutShowingPasswords(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "mail.example:25", "http://mail.example", "smtp://user:hunter2@", "smtp://u:hunter2@h:x"} {
		_, err := smtp.New(address, "shop@eenmaal.example")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}
