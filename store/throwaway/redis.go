package throwaway

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Redis starts a new, empty Redis. Its files go into a new folder inside dir;
// an empty dir means memory or the temporary folder, as for Postgres.
func Redis(dir string, o Options) (*Server, error) {
	server, err := find("redis-server", "apt-get install redis-server")
	if err != nil {
		return nil, err
	}
	home, unlock, err := newFolder(dir, "redis", nil)
	if err != nil {
		return nil, fmt.Errorf("start redis: %w", err)
	}
	s := &Server{name: "redis", dir: home, unlock: unlock, stop: sigTerm}
	s.ready = func(pid int) bool { return redisReady(s.Port, pid) }

	settings := map[string]string{"bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": home}
	if o.Durable {
		settings["appendonly"], settings["appendfsync"] = "yes", "always"
	}
	for name, value := range o.Settings {
		settings[name] = value
	}
	return startOnFreePort(s, func(port int) {
		s.URL = fmt.Sprintf("redis://127.0.0.1:%d/0", port)
		s.command = []string{server, "--port", strconv.Itoa(port)}
		for name, value := range settings {
			s.command = append(s.command, "--"+name, value)
		}
	})
}

// redisReady asks who is there: a PING could be answered by somebody else's
// Redis that took the port a moment before ours.
func redisReady(port, pid int) bool {
	//nolint:noctx // bounded by its own timeout
	c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, "INFO server\r\nPING\r\nQUIT\r\n"); err != nil {
		return false
	}
	answer, _ := io.ReadAll(c)
	return strings.Contains(string(answer), fmt.Sprintf("\r\nprocess_id:%d\r\n", pid)) &&
		strings.Contains(string(answer), "+PONG") // an error while it loads its file
}
