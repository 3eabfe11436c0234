package smtp_test

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/smtp"
	"example.com/eenmaal/domain"
)

// inbox is what a real mail server, which other tests use too, took for one recipient.
type inbox struct {
	t      *testing.T
	url    string
	to     string
	mailer *smtp.Mailer
}

func openInbox(t *testing.T) inbox {
	t.Helper()
	server := os.Getenv("TEST_SMTP_URL")
	if server == "" {
		if os.Getenv("EENMAAL_TEST_ALL") != "" {
			t.Fatal("TEST_SMTP_URL is empty; is Mailpit installed? make .tools/mailpit")
		}
		t.Skip("NOT TESTED: TEST_SMTP_URL is empty; make .tools/mailpit, then go run ./cmd/withservices -- go test ./api/smtp")
	}
	mailer, err := smtp.New(server, "shop@eenmaal.example")
	if err != nil {
		t.Fatal(err)
	}
	return inbox{t, os.Getenv("TEST_INBOX_URL"), strings.ToLower(rand.Text()) + "@example.nl", mailer}
}

// send makes a mail to the inbox and sends it.
func (i inbox) send(subject, text string) domain.Mail {
	i.t.Helper()
	one := domain.Mail{MessageID: rand.Text() + "@shop.example", To: i.to, Subject: subject, Text: text,
		CreatedAt: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	i.sendAgain(one)
	return one
}

func (i inbox) sendAgain(one domain.Mail) {
	i.t.Helper()
	if err := i.mailer.Send(i.t.Context(), one); err != nil {
		i.t.Fatal(err)
	}
}

type address struct{ Address string }

type received struct {
	MessageID, Subject, Text string
	From                     address
	To, Cc, Bcc              []address
	Date                     time.Time
	headers                  map[string][]string
}

// mails are all that came, as the server reads them.
func (i inbox) mails() (list []received) {
	i.t.Helper()
	var found struct{ Messages []struct{ ID string } }
	i.get("/api/v1/search?query="+url.QueryEscape("to:"+i.to), &found)
	for _, one := range found.Messages {
		var m received
		i.get("/api/v1/message/"+one.ID, &m)
		i.get("/api/v1/message/"+one.ID+"/headers", &m.headers)
		list = append(list, m)
	}
	return list
}

// copyOf gives a mail as it came; there must be one.
func (i inbox) copyOf(sent domain.Mail) received {
	i.t.Helper()
	same := slices.DeleteFunc(i.mails(), func(m received) bool { return m.MessageID != sent.MessageID })
	if len(same) != 1 {
		i.t.Fatalf("there are %d copies of %q, want 1", len(same), sent.Subject)
	}
	return same[0]
}

func (i inbox) get(path string, into any) {
	i.t.Helper()
	req, err := http.NewRequestWithContext(i.t.Context(), http.MethodGet, i.url+path, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		i.t.Fatalf("the inbox answers %s with %d, %v", path, resp.StatusCode, err)
	}
}

func TestARealServerReadsAMailAsItWasWritten(t *testing.T) {
	t.Parallel()
	i := openInbox(t)
	sent := i.send("Je krijgt € 41,95 terug – één keer", "Dank je wel.\n\n2 x Café crème  € 41,95\n"+strings.Repeat("lang ", 40)+"\n")
	got := i.copyOf(sent)
	if got.Subject != sent.Subject || !got.Date.Equal(sent.CreatedAt) {
		t.Errorf("got %q of %s, sent %+v", got.Subject, got.Date, sent)
	}
	if text := strings.ReplaceAll(got.Text, "\r\n", "\n"); strings.TrimSpace(text) != strings.TrimSpace(sent.Text) {
		t.Errorf("the text is\n%q\nand was\n%q", text, sent.Text)
	}
	if got.From.Address != "shop@eenmaal.example" || len(got.To) != 1 || got.To[0].Address != i.to || len(got.Cc)+len(got.Bcc) != 0 {
		t.Errorf("it goes from %v to %v, copies to %v and %v", got.From, got.To, got.Cc, got.Bcc)
	}
}

// A mail whose answer was lost is sent again: the server has two copies of one mail.
func TestARealServerSeesThatACopyIsTheSameMail(t *testing.T) {
	t.Parallel()
	i := openInbox(t)
	sent := i.send("Your order is paid", "Thank you.")
	i.sendAgain(sent)
	mails := i.mails()
	if len(mails) != 2 || mails[0].MessageID != sent.MessageID || mails[1].MessageID != sent.MessageID {
		t.Fatalf("got %+v, want two copies of %s", mails, sent.MessageID)
	}
	for _, m := range mails {
		delete(m.headers, "Received") // by the server
	}
	if !maps.EqualFunc(mails[0].headers, mails[1].headers, slices.Equal) || mails[0].Text != mails[1].Text {
		t.Errorf("the copies differ: %+v", mails)
	}
}

// S39: whatever a subject holds, the headers are those of an ordinary mail, once each, and nobody else
// gets it.
func TestNoSubjectAddsAHeaderAtARealServer(t *testing.T) {
	t.Parallel()
	i := openInbox(t)
	ordinary := slices.Sorted(maps.Keys(i.copyOf(i.send("An ordinary one", "x")).headers))
	for _, subject := range []string{
		"a\r\nBcc: all@example.com", "a\nBcc: all@example.com", "a\rBcc: all@example.com", "a\r\n\r\nBcc: all@example.com",
		"=?utf-8?q?a=0D=0ABcc:_all@example.com?=", "=?utf-8?b?YQ0KQmNjOiBhbGxAZXhhbXBsZS5jb20=?=",
		"é\r\nBcc: all@example.com", "a\x00\r\n Bcc: all@example.com", strings.Repeat("é", 200) + "\r\nBcc: all@example.com",
		"a\u2028Bcc: all@example.com", "a\u0085Bcc: all@example.com",
	} {
		got := i.copyOf(i.send(subject, "x"))
		if names := slices.Sorted(maps.Keys(got.headers)); !slices.Equal(names, ordinary) {
			t.Errorf("%q gives the headers %v, an ordinary mail has %v", subject, names, ordinary)
		}
		for name, values := range got.headers {
			if len(values) != 1 {
				t.Errorf("%q gives %s the values %q", subject, name, values)
			}
		}
		if len(got.To) != 1 || len(got.Cc)+len(got.Bcc) != 0 || strings.TrimSpace(got.Text) != "x" {
			t.Errorf("%q gives %+v", subject, got)
		}
	}
}
