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
	s, command, err := newRedis(dir, o)
	if err != nil {
		return nil, err
	}
	return startOnFreePort(s, func(port int) { s.onPort(port, command) })
}

// newRedis makes a server that is not started yet, and its command without a port.
func newRedis(dir string, o Options) (*Server, []string, error) {
	server, err := find("redis-server", "apt-get install redis-server")
	if err != nil {
		return nil, nil, err
	}
	home, unlock, err := newFolder(dir, "redis", nil)
	if err != nil {
		return nil, nil, fmt.Errorf("start redis: %w", err)
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
	command := []string{server}
	for name, value := range settings {
		command = append(command, "--"+name, value)
	}
	return s, command, nil
}

func (s *Server) onPort(port int, command []string) {
	s.Port = port
	s.URL = fmt.Sprintf("redis://127.0.0.1:%d/0", port)
	s.command = append(command[:len(command):len(command)], "--port", strconv.Itoa(port))
}

// redisReady asks who is there: a PING could be answered by somebody else's
// Redis that took the port a moment before ours.
func redisReady(port, pid int) bool {
	answer := askRedis(port, "INFO server", "PING")
	return strings.Contains(answer, fmt.Sprintf("\r\nprocess_id:%d\r\n", pid)) &&
		strings.Contains(answer, "+PONG") // an error while it loads its file
}

// askRedis gives all that a Redis answers to some commands; nothing when it
// does not.
func askRedis(port int, commands ...string) string {
	//nolint:noctx // bounded by its own timeout
	c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
	if err != nil {
		return ""
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, strings.Join(append(commands, "QUIT"), "\r\n")+"\r\n"); err != nil {
		return ""
	}
	answer, _ := io.ReadAll(c)
	return string(answer)
}
