package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
)

// mailServer is a real one, which tests share. Each has recipients of its own.
type mailServer struct{ smtp, inbox *url.URL }

func needMailServer(t *testing.T) mailServer {
	t.Helper()
	if os.Getenv("TEST_SMTP_URL") == "" {
		if everything {
			t.Fatal("TEST_SMTP_URL is empty; is Mailpit installed? make .tools/mailpit")
		}
		t.Skip("NOT TESTED: TEST_SMTP_URL is empty; make .tools/mailpit, then go run ./cmd/withservices -- go test ./e2e")
	}
	parse := func(name string) *url.URL {
		u, err := url.Parse(os.Getenv(name))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	return mailServer{smtp: parse("TEST_SMTP_URL"), inbox: parse("TEST_INBOX_URL")}
}

// copies are the mails to a recipient, without what the server wrote on them, by Message-ID.
func (m mailServer) copies(t *testing.T, to string) map[string][]string {
	t.Helper()
	var found struct {
		Messages []struct{ ID, MessageID string }
	}
	status, body := get(t, m.inbox.String()+"/api/v1/search?limit=1000&query="+url.QueryEscape("to:"+to))
	if err := json.Unmarshal(body, &found); err != nil || status != http.StatusOK {
		t.Fatalf("the inbox answers %d %s, %v", status, body, err)
	}
	all := map[string][]string{}
	for _, one := range found.Messages {
		status, text := get(t, m.inbox.String()+"/api/v1/message/"+one.ID+"/raw")
		if status != http.StatusOK {
			t.Fatalf("the inbox answers %d: %s", status, text)
		}
		all[one.MessageID] = append(all[one.MessageID], asSent(string(text)))
	}
	return all
}

// asSent leaves out the header that a server puts on top: Received, with the lines that go on with it.
func asSent(mail string) string {
	var b strings.Builder
	header, received := true, false
	for line := range strings.Lines(mail) {
		header = header && strings.TrimSpace(line) != ""
		goesOn := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		received = header && (strings.HasPrefix(line, "Received:") || received && goesOn)
		if !received {
			b.WriteString(line)
		}
	}
	return b.String()
}

// mailLink stands between the shop and its mail server.
type mailLink struct {
	url    string
	target string

	mu       sync.Mutex
	greeting func(gone <-chan struct{}) bool // whether to let the server begin
	taken    func(gone <-chan struct{}) bool // whether to tell that it took a mail
}

func newMailLink(t *testing.T, server mailServer) *mailLink {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	l := &mailLink{url: "smtp://" + listener.Addr().String(), target: server.smtp.Host}
	l.heal()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(client)
		}
	}()
	return l
}

// on sets what happens before a conversation, and when a mail was taken; nil is nothing.
func (l *mailLink) on(greeting, taken func(gone <-chan struct{}) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	nothing := func(<-chan struct{}) bool { return true }
	l.greeting, l.taken = nothing, nothing
	if greeting != nil {
		l.greeting = greeting
	}
	if taken != nil {
		l.taken = taken
	}
}

func (l *mailLink) heal() { l.on(nil, nil) }

func (l *mailLink) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", l.target) //nolint:noctx // ends with the client's side
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(server, client)
		close(gone)
		_ = server.Close()
	}()
	replies := bufio.NewReader(server)
	for first, whole := true, false; ; first = false {
		line, err := replies.ReadString('\n')
		if err != nil {
			return
		}
		l.mu.Lock()
		greeting, taken := l.greeting, l.taken
		l.mu.Unlock()
		if first && !greeting(gone) || whole && !taken(gone) {
			return
		}
		whole = strings.HasPrefix(line, "354") // the next reply is about the whole mail
		_, _ = io.WriteString(client, line)    // it may have gone
	}
}
