package throwaway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// Mailpit starts a mail server that keeps what it takes and sends nothing on.
// URL is for SMTP; Inbox is where its HTTP API is. Its files go into a new
// folder inside dir, as for Redis. It has no durable mode; Settings are flags.
func Mailpit(dir string, o Options) (*Server, error) {
	server, err := find("mailpit", "make .tools/mailpit", ".tools", "../../.tools")
	if err != nil {
		return nil, err
	}
	home, unlock, err := newFolder(dir, "mailpit", nil)
	if err != nil {
		return nil, fmt.Errorf("start mailpit: %w", err)
	}
	s := &Server{name: "mailpit", dir: home, unlock: unlock, stop: sigTerm}
	s.ready = func(int) bool { return mailpitReady(s) }
	return startOnFreePort(s, func(port int) {
		inbox, _ := freePort() // without one it does not become ready
		s.URL = fmt.Sprintf("smtp://127.0.0.1:%d", port)
		s.Inbox = fmt.Sprintf("http://127.0.0.1:%d", inbox)
		s.command = []string{server, "--smtp", fmt.Sprintf("127.0.0.1:%d", port), "--listen", fmt.Sprintf("127.0.0.1:%d", inbox),
			"--database", filepath.Join(home, "mailpit.db"), "--smtp-disable-rdns", "--disable-version-check"}
		for name, value := range o.Settings {
			s.command = append(s.command, "--"+name, value)
		}
	})
}

// mailpitReady asks at both doors. A port that somebody took a moment before
// ends the server, so a stranger's answer is not taken for ours for long.
func mailpitReady(s *Server) bool {
	client := http.Client{Timeout: time.Second}
	resp, err := client.Get(s.Inbox + "/readyz") //nolint:noctx // bounded by its own timeout
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body) // the status is what counts
	_ = resp.Body.Close()
	//nolint:noctx // bounded by its own timeout
	c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port), time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil && resp.StatusCode == http.StatusOK
}
