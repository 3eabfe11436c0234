package chaos

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/redis/go-redis/v9"
)

// server is a child that serves others: Postgres, Redis or the payment provider.
type server struct {
	name    string
	addr    string
	command func() (*exec.Cmd, error)
	ready   func(context.Context) error
	log     *os.File

	mu   sync.Mutex
	cmd  *exec.Cmd
	gone chan struct{} // closed when cmd has ended
}

// open starts a server that ends with the test.
func open(t *testing.T, dir string, s *server) *server {
	t.Helper()
	var err error
	if s.log, err = os.Create(filepath.Join(dir, s.name+".log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.kill(); _ = s.log.Close() })
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// start launches the server, on its old data, and waits until it serves.
func (s *server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cmd, err := s.command()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = s.log, s.log
	dieWithUs(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // how it ended does not matter
	}()
	s.cmd, s.gone = cmd, gone
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = s.ready(ctx)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-gone:
			return fmt.Errorf("%s ended at once, see %s", s.name, s.log.Name())
		default:
		}
	}
	return fmt.Errorf("%s does not serve: %w", s.name, err)
}

// kill ends the server and all its processes as kill -9 does.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	killFamily(s.cmd.Process)
	<-s.gone
	s.cmd = nil
}

// alive reports whether the server's process runs.
func (s *server) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return false
	}
	select {
	case <-s.gone:
		s.cmd = nil
		return false
	default:
		return true
	}
}

// frozen runs for a while without letting the server do anything.
func (s *server) frozen(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	freeze(s.cmd.Process)
	time.Sleep(d)
	thaw(s.cmd.Process)
}

// maxConnections of Postgres: more than both replicas and the harness need, few enough to take them all.
const maxConnections = 60

// newPostgres starts an empty Postgres on a disk of its own, with a clock of its own. safe makes every commit reach the disk before it is answered, as
// in production; without it a commit survives the death of every process all the same.
func newPostgres(t *testing.T, dir string, d *disk, c *clock, safe bool) (*server, string) {
	t.Helper()
	data, addr := d.folder(t, "postgres"), freeAddress(t)
	setup := exec.Command(program("initdb"), "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	setup.Dir = "/"
	if err := asPostgres(setup, data); err != nil {
		t.Fatal(err)
	}
	dieWithUs(setup)
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	_, port, _ := net.SplitHostPort(addr)
	// No socket in a folder: the path of one may not be longer than a hundred characters.
	args := []string{"-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", fmt.Sprint("max_connections=", maxConnections), "-c", "max_wal_size=96MB", "-c", "min_wal_size=32MB", "-c", "jit=off", "-c", "timezone=UTC"}
	if !safe {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	url := "postgres://postgres@" + addr + "/postgres?sslmode=disable"
	witness, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = witness.Close() })
	return open(t, dir, &server{
		name: "postgres", addr: addr, ready: witness.PingContext,
		command: func() (*exec.Cmd, error) {
			cmd := exec.Command(program("postgres"), args...)
			cmd.Dir, cmd.Env = "/", c.environment()
			return cmd, asPostgres(cmd, data)
		},
	}), url
}

// program finds one of Postgres' programs or the system's, which many systems keep out of PATH.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	return append(found, "/usr/sbin/"+name)[0]
}

// newRedis starts an empty Redis that keeps nothing through a restart.
func newRedis(t *testing.T, dir string) (*server, *redis.Client) {
	t.Helper()
	addr := freeAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	client := redis.NewClient(&redis.Options{Addr: addr, DialTimeout: time.Second, ReadTimeout: time.Second, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return open(t, dir, &server{
		name: "redis", addr: addr, ready: func(ctx context.Context) error { return client.Ping(ctx).Err() },
		command: func() (*exec.Cmd, error) {
			return exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", dir), nil
		},
	}), client
}

// shopCommand is the binary with these settings and no others of ours.
func shopCommand(env map[string]string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

var ports struct {
	sync.Mutex
	given map[int]bool
}

// freeAddress gives a port that nothing listens on. It is below those that systems give to outgoing
// connections, so that it stays free while its server is dead.
func freeAddress(t *testing.T) string {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	for range 1000 {
		port := 10000 + rand.IntN(10000)
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		listener, err := net.Listen("tcp", addr)
		if err != nil || ports.given[port] {
			continue
		}
		_ = listener.Close()
		ports.given[port] = true
		return addr
	}
	t.Fatal("no port is free")
	return ""
}

// missing tells which of the servers' programs are not installed.
func missing() error {
	var errs []error
	for _, name := range []string{program("initdb"), program("postgres"), "redis-server", program("mke2fs")} {
		if _, err := exec.LookPath(name); err != nil {
			errs = append(errs, err)
		}
	}
	if fakeTime() == "" {
		errs = append(errs, errors.New("libfaketime is not installed"))
	}
	return errors.Join(errs...)
}

// watch counts how often a text comes into a log from now on.
func watch(log *os.File, text string) (times func() int) {
	size := func() int64 {
		info, err := os.Stat(log.Name())
		if err != nil {
			return 0
		}
		return info.Size()
	}
	from, n := size(), 0
	return func() int {
		news := make([]byte, max(size()-from, 0))
		if _, err := log.ReadAt(news, from); err != nil {
			return n // next time
		}
		whole := strings.LastIndexByte(string(news), '\n') + 1
		n, from = n+strings.Count(string(news[:whole]), text), from+int64(whole)
		return n
	}
}

// lastLine of a file, which may not be there.
func lastLine(path string) string {
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
