// Package throwaway starts a private Postgres, Redis or mail server for a test
// or a benchmark, and lets it die in every way a real one can: stopped, killed,
// frozen, started again.
//
// A server listens on 127.0.0.1 only, keeps all its files in one folder that
// Stop removes, and is killed by the kernel when this process dies, whatever
// it dies of. It uses the binaries the machine has; it downloads nothing.
package throwaway

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrNotInstalled is wrapped by the error for a missing server binary, so that
// a test can skip for that reason and for no other.
var ErrNotInstalled = errors.New("not installed")

// startTimeout is generous: a busy two-core machine needs seconds for what
// takes 50 ms on an idle one.
const startTimeout = 60 * time.Second

// Options changes how a server runs. The zero value is right for tests.
type Options struct {
	// Durable keeps every promise about the disk: fsync and its friends in
	// Postgres, an append-only file in Redis. Without it a server is several
	// times faster, still survives Kill in Postgres, and forgets all in Redis.
	Durable bool

	// Settings are added to the server's own, for example
	// {"max_connections": "50"}, and win over the defaults here.
	Settings map[string]string
}

// Server is one running server. Its methods may be called from any goroutine.
type Server struct {
	URL   string // for clients
	Inbox string // of a mail server: where what it took is read
	Port  int

	name    string   // in errors: "postgres"
	dir     string   // everything the server writes; removed by Stop
	command []string // started with dir as working folder
	account *account // whom it runs as; nil means as we do
	stop    syscall.Signal
	ready   func(pid int) bool
	unlock  func()

	mu      sync.Mutex
	process *process // nil when not running
}

// Restart stops the server if it runs and starts it again, on the same port
// and with the same files.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halt()
	return s.start()
}

// Kill ends the server and its children at once, as kill -9 does. Restart
// brings it back.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}

// Freeze stops the server in its tracks: connections stay open and nothing
// answers, which is how an overloaded or partitioned server looks.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freeze()
}

// Thaw lets a frozen server go on.
func (s *Server) Thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signalAll(sigCont)
}

// PIDs lists the process and its children, the process first; nothing when it
// does not run.
func (s *Server) PIDs() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pids()
}

// Stop ends the server and removes its files. It may be called twice.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halt()
	_ = os.RemoveAll(s.dir) // memory or a temporary folder; nothing to save
	s.unlock()
}

// start runs the command and waits until the server answers.
func (s *Server) start() error {
	p, err := startProcess(s.command, s.dir, filepath.Join(s.dir, "log"), s.account)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.process = p
	deadline := time.Now().Add(startTimeout)
	for !s.ready(p.pid) {
		select {
		case <-p.done:
			s.process = nil
			return fmt.Errorf("start %s: it ended at once (%w): %s", s.name, p.err, s.logTail())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.kill()
			return fmt.Errorf("start %s: not ready after %s: %s", s.name, startTimeout, s.logTail())
		}
	}
	return nil
}

// halt asks the server to end and kills it when it does not.
func (s *Server) halt() {
	if s.process == nil {
		return
	}
	s.signalAll(sigCont) // a frozen process hears nothing but SIGKILL
	signal(s.process.pid, s.stop)
	select {
	case <-s.process.done:
		s.process = nil
	case <-time.After(10 * time.Second):
		s.kill()
	}
}

// kill freezes first, so that no child is born between the look and the blow,
// and returns when all of them are gone.
func (s *Server) kill() {
	if s.process == nil {
		return
	}
	s.freeze()
	pids := s.pids()
	for _, pid := range pids {
		signal(pid, syscall.SIGKILL)
	}
	<-s.process.done
	s.process = nil
	for range 500 { // the orphans are buried by init, not by us
		if !slices.ContainsFunc(pids, alive) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// freeze goes parent first: a stopped parent has no more children.
func (s *Server) freeze() {
	if s.process == nil {
		return
	}
	signal(s.process.pid, sigStop)
	s.signalAll(sigStop)
}

func (s *Server) signalAll(sig syscall.Signal) {
	for _, pid := range s.pids() {
		signal(pid, sig)
	}
}

func (s *Server) pids() []int {
	if s.process == nil {
		return nil
	}
	select {
	case <-s.process.done:
		return nil
	default:
		return append([]int{s.process.pid}, descendants(s.process.pid)...)
	}
}

// logTail gives the server's own last words, for an error message.
func (s *Server) logTail() string {
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(log[max(0, len(log)-2000):])
}

// process is a child and its end.
type process struct {
	pid  int
	err  error // how it ended; read after done is closed
	done chan struct{}
}

// startProcess starts a child that dies when we do.
//
// The kernel ties that promise to the thread that started the child, not to
// the whole program, and Go ends and reuses threads as it likes. So one
// goroutine keeps its thread for the life of the child.
func startProcess(command []string, dir, logFile string, as *account) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own handle

	//nolint:noctx // the server's life is Stop's to end, not a context's
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = plainEnv()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes(as)

	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		if p.err == nil {
			p.err = errors.New("exit status 0")
		}
		close(p.done)
	}()
	return p, <-started
}

// plainEnv keeps the caller's PGDATA, locale and the like out of the server.
func plainEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}

// find looks for a program in PATH and then in the folders given, newest
// version first. install is the command that would bring it.
func find(program, install string, folders ...string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return filepath.Abs(path)
	}
	for _, pattern := range folders {
		matches, _ := filepath.Glob(filepath.Join(pattern, program))
		slices.SortFunc(matches, func(a, b string) int { // "9" before "15" before "17"
			return cmp.Or(len(a)-len(b), strings.Compare(a, b))
		})
		if len(matches) > 0 {
			return filepath.Abs(matches[len(matches)-1])
		}
	}
	return "", fmt.Errorf("%s is %w: %s", program, ErrNotInstalled, install)
}

// freePort picks a port nobody listens on, outside the range the kernel takes
// client ports from (32768 and up on Linux). Otherwise some connection could
// be given the port while a killed server is down, and Restart would fail.
func freePort() (int, error) {
	for range 100 {
		port := 12000 + rand.IntN(20000)
		//nolint:noctx // binding a loopback port does not wait
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, errors.New("no free port between 12000 and 32000")
}

// startOnFreePort tries again on another port: other test binaries look for
// one at the same moment.
func startOnFreePort(s *Server, configure func(port int)) (*Server, error) {
	var errs error
	for range 3 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s.Port = port
		configure(port)
		if err = s.start(); err == nil {
			return s, nil
		}
		errs = err
	}
	s.Stop()
	return nil, errs
}
