//go:build linux || darwin

package throwaway

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// need stops a test that lacks a server binary: a failure in a full run,
// otherwise a skip that says what is missing.
func need(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if errors.Is(err, ErrNotInstalled) && os.Getenv("EENMAAL_TEST_ALL") == "" {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
	t.Fatal(err)
}

func startPostgres(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Postgres("", o)
	need(t, err)
	t.Cleanup(s.Stop)
	return s
}

func startRedis(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Redis("", o)
	need(t, err)
	t.Cleanup(s.Stop)
	return s
}

func startMailpit(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Mailpit("", o)
	need(t, err)
	t.Cleanup(s.Stop)
	return s
}

func TestPostgresAnswersAndStopLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startPostgres(t, Options{})
	if got := hello(t, s.Port); got != 'R' {
		t.Errorf("first byte of the answer = %q, want 'R' (authentication)", got)
	}
	if s.Port >= 32768 {
		t.Errorf("port = %d, want one below the range of client ports", s.Port)
	}
	pids := s.PIDs()
	if len(pids) < 3 {
		t.Errorf("PIDs = %v, want the postmaster and its children", pids)
	}
	s.Stop()
	s.Stop()
	wantGone(t, s, pids)
}

func TestPostgresComesBackAfterKill(t *testing.T) {
	t.Parallel()
	s := startPostgres(t, Options{Durable: true})
	pids := s.PIDs()
	s.Kill()
	if alive := slices.DeleteFunc(pids, func(pid int) bool { return !alive(pid) }); len(alive) > 0 {
		t.Errorf("alive after Kill: %v", alive)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if got := hello(t, s.Port); got != 'R' {
		t.Errorf("first byte of the answer = %q, want 'R'", got)
	}
}

func TestRedisFreezesAndThaws(t *testing.T) {
	t.Parallel()
	s := startRedis(t, Options{})
	s.Freeze()
	if answer, err := ask(s.Port, "PING", 200*time.Millisecond); err == nil {
		t.Errorf("frozen Redis answered %q", answer)
	}
	s.Thaw()
	if answer, err := ask(s.Port, "PING", 5*time.Second); answer != "+PONG" {
		t.Errorf("thawed Redis answered %q, %v", answer, err)
	}
	s.Freeze()
	pids := s.PIDs()
	s.Stop()
	wantGone(t, s, pids)
}

func TestMailpitAnswersAtBothDoorsAndStopLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startMailpit(t, Options{})
	greeting := make([]byte, 4)
	if _, err := io.ReadFull(dial(t, s.Port), greeting); err != nil || string(greeting) != "220 " {
		t.Errorf("it greets with %q, %v", greeting, err)
	}
	if !mailpitReady(s) {
		t.Error("it is not ready")
	}
	pids := s.PIDs()
	s.Stop()
	wantGone(t, s, pids)
}

func TestRedisKeepsItsPortAndIfDurableItsData(t *testing.T) {
	t.Parallel()
	for durable, want := range map[bool]string{true: "$2", false: "$-1"} { // two bytes; nil
		s := startRedis(t, Options{Durable: durable})
		port := s.Port
		if answer, err := ask(port, "SET k OK", 5*time.Second); answer != "+OK" {
			t.Fatalf("SET answered %q, %v", answer, err)
		}
		s.Kill()
		if answer, err := ask(port, "PING", time.Second); err == nil {
			t.Errorf("killed Redis answered %q", answer)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		if s.Port != port {
			t.Errorf("port = %d after Restart, want %d", s.Port, port)
		}
		if answer, err := ask(port, "GET k", 5*time.Second); answer != want {
			t.Errorf("durable %t: GET answered %q, %v; want %q", durable, answer, err, want)
		}
	}
}

func TestAClusterIsOneAndAServerOfItComesBack(t *testing.T) {
	t.Parallel()
	c, err := RedisCluster("", Options{})
	need(t, err)
	t.Cleanup(c.Stop)
	moved := 0
	for _, s := range c.Nodes {
		if strings.Contains(askRedis(s.Port, "SET key value"), "MOVED") {
			moved++
		}
	}
	if moved != len(c.Nodes)-1 {
		t.Errorf("%d of the servers say that another has the key, want all but one", moved)
	}
	c.Nodes[0].Kill()
	if err := c.Nodes[0].Restart(); err != nil {
		t.Fatal(err)
	}
	if err := c.await(); err != nil {
		t.Error(err)
	}
}

func TestStartErrorCarriesTheServersOwnWords(t *testing.T) {
	t.Parallel()
	_, err := Redis("", Options{Settings: map[string]string{"maxmemory": "lots"}})
	if errors.Is(err, ErrNotInstalled) {
		need(t, err)
	}
	if err == nil || !strings.Contains(err.Error(), "maxmemory") {
		t.Errorf("error = %v, want one that names maxmemory", err)
	}
}

func TestMissingProgramTellsHowToGetIt(t *testing.T) {
	t.Parallel()
	_, err := find("no-such-server", "apt-get install some-package")
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "apt-get install some-package") {
		t.Errorf("error = %v", err)
	}
}

func TestNewestVersionIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, version := range []string{"9", "15", "17", "8"} {
		folder := filepath.Join(dir, version, "bin")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "no-such-server"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := find("no-such-server", "p", dir+"/*/bin")
	if want := filepath.Join(dir, "17", "bin", "no-such-server"); got != want {
		t.Errorf("found %q, %v; want %q", got, err, want)
	}
}

// The test binary runs itself: the copy starts the servers, says where, and is
// killed without a chance to clean up.
func TestServersDieWithTheirOwner(t *testing.T) {
	t.Parallel()
	if os.Getenv("THROWAWAY_OWNER") != "" {
		var pids []int
		for _, start := range []func(string, Options) (*Server, error){Postgres, Redis} {
			s, err := start(os.Getenv("THROWAWAY_OWNER"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, s.PIDs()...)
		}
		runtime.GC() // threads may come and go; the promise must hold
		fmt.Println("PIDS", pids)
		select {}
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux makes this promise")
	}
	startPostgres(t, Options{}).Stop() // skips when there is none
	startRedis(t, Options{}).Stop()

	dir, err := os.MkdirTemp("", "owner-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the server's account passes through
		t.Fatal(err)
	}
	owner := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServersDieWithTheirOwner$", "-test.v")
	owner.Env = append(os.Environ(), "THROWAWAY_OWNER="+dir)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPIDs(t, out)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // "signal: killed" is the point
	eventually(t, "the servers are gone", func() bool { return !slices.ContainsFunc(pids, alive) })

	// What it left is removed by the next run, but not before a minute is over.
	if sweep(dir); countFolders(t, dir) != 2 {
		t.Error("sweep removed a folder that may be about to be locked")
	}
	longAgo := time.Now().Add(-time.Hour)
	locks, _ := filepath.Glob(filepath.Join(dir, "*", "lock"))
	for _, lock := range locks {
		if err := os.Chtimes(lock, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	if sweep(dir); countFolders(t, dir) != 0 {
		t.Error("sweep left the folders of a killed owner")
	}
}

func TestSweepLeavesFoldersInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, unlock, err := newFolder(dir, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	longAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(path, "lock"), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	if sweep(dir); countFolders(t, dir) != 1 {
		t.Error("sweep removed a folder in use")
	}
}

func readPIDs(t *testing.T, out io.Reader) []int {
	t.Helper()
	var text strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := out.Read(buffer)
		text.Write(buffer[:n])
		if _, list, found := strings.Cut(text.String(), "PIDS ["); found && strings.Contains(list, "]") {
			list, _, _ = strings.Cut(list, "]")
			var pids []int
			for _, word := range strings.Fields(list) {
				var pid int
				if _, err := fmt.Sscan(word, &pid); err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
			return pids
		}
		if err != nil {
			t.Fatalf("the owner ended early: %v: %s", err, text.String())
		}
	}
}

func countFolders(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func wantGone(t *testing.T, s *Server, pids []int) {
	t.Helper()
	eventually(t, "all processes ended", func() bool { return !slices.ContainsFunc(pids, alive) })
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", s.dir, err)
	}
	if got := s.PIDs(); len(got) > 0 {
		t.Errorf("PIDs = %v after Stop", got)
	}
}

func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen in time: %s", what)
		}
	}
}

// hello sends what a Postgres client sends first and returns the first byte of
// the answer.
func hello(t *testing.T, port int) byte {
	t.Helper()
	c := dial(t, port)
	body := []byte("\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00")
	message := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	if _, err := c.Write(message); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1)
	if _, err := io.ReadFull(c, answer); err != nil {
		t.Fatal(err)
	}
	return answer[0]
}

func dial(t *testing.T, port int) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends one Redis command and returns the first line of the answer.
func ask(port int, command string, within time.Duration) (string, error) {
	//nolint:noctx // bounded by its own timeout
	c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), within)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, command+"\r\n"); err != nil {
		return "", err
	}
	answer := make([]byte, 512)
	n, err := c.Read(answer)
	line, _, _ := strings.Cut(string(answer[:n]), "\r\n")
	return line, err
}
