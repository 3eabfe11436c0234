package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
)

// sink keeps every copy of what came, by its id. It lives in the test process: no crash of the shop can
// touch it.
type sink struct {
	mu     sync.Mutex
	copies map[string][]string
}

func (s *sink) add(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copies == nil {
		s.copies = map[string][]string{}
	}
	s.copies[id] = append(s.copies[id], text)
}

// all gives the ids with one copy each, and how many copies there were in all. Copies that differ are
// told.
func (s *sink) all(differ func(id, one, other string)) (texts map[string]string, copies int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts = map[string]string{}
	for id, list := range s.copies {
		texts[id] = list[0]
		copies += len(list)
		for _, text := range list {
			if text != list[0] {
				differ(id, list[0], text)
			}
		}
	}
	return texts, copies
}

// newMailServer takes every mail, by its Message-ID, and gives its address.
func newMailServer(t *testing.T, s *sink) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return session{s}, nil }))
	server.Domain = "localhost"
	server.ErrorLog = log.New(io.Discard, "", 0) // that a replica died in the middle is no news here
	go func() { _ = server.Serve(listener) }()   // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

type session struct{ sink *sink }

func (session) Reset()                               {}
func (session) Logout() error                        { return nil }
func (session) Mail(string, *smtp.MailOptions) error { return nil }
func (session) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (s session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := mail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return err
	}
	s.sink.add(strings.Trim(m.Header.Get("Message-ID"), "<>"), string(text))
	return nil
}

// newReceiver takes every event that the shop sends, by its id, and gives its address.
func newReceiver(t *testing.T, s *sink) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // cut off: it will come again
		}
		s.add(r.Header.Get("webhook-id"), string(body))
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// charge is an entry of the provider's ledger.
type charge struct {
	ID        string
	Reference string
	Key       string `json:"idempotency_key"`
	Status    string
	Amount    int64
	Captured  int64
	Refunded  int64
	Version   int64
}

// ledger asks the provider for the charges of an order.
func ledger(provider, reference string) ([]charge, error) {
	var list struct{ Charges []charge }
	resp, err := http.Get("http://" + provider + "/psp/v1/charges?reference=" + url.QueryEscape(reference))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the ledger answers %d", resp.StatusCode)
	}
	err = json.NewDecoder(resp.Body).Decode(&list)
	return list.Charges, err
}
