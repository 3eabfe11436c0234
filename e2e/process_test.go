package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// settings are environment variables of a process. It gets no others of ours but those a program needs.
type settings map[string]string

// process is a running shop binary.
type process struct {
	addr string
	cmd  *exec.Cmd
	out  *output
	gone chan struct{} // closed when it has ended
}

// output collects what a process prints.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// command makes a shop command that is not started yet.
func command(args []string, env settings) *exec.Cmd { return commandOf(binary, args, env) }

func commandOf(program string, args []string, env settings) *exec.Cmd {
	cmd := exec.Command(program, args...)
	dieWithUs(cmd)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// startProcess launches the binary and waits until it is ready.
func startProcess(args []string, env settings) (*process, error) {
	return startProgram(binary, args, env)
}

// startProgram is startProcess for another binary of the shop.
func startProgram(program string, args []string, env settings) (*process, error) {
	p, err := launchProgram(program, args, env)
	if err != nil {
		return nil, err
	}
	if err := p.awaitReady(); err != nil {
		p.kill()
		return nil, fmt.Errorf("%w; it printed:\n%s", err, p.out)
	}
	return p, nil
}

// launch starts the binary, on a free port unless env names an address.
func launch(args []string, env settings) (*process, error) { return launchProgram(binary, args, env) }

func launchProgram(program string, args []string, env settings) (*process, error) {
	p := &process{addr: env["ADDR"], out: &output{}, gone: make(chan struct{})}
	if p.addr == "" {
		p.addr = freeAddress()
	}
	all := settings{"ADDR": p.addr}
	for name, value := range env {
		all[name] = value
	}
	p.cmd = commandOf(program, args, all)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // the state is in ProcessState
	}()
	return p, nil
}

func (p *process) awaitReady() error {
	client := http.Client{Timeout: time.Second}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		select {
		case <-p.gone:
			return errors.New("the process ended at once")
		default:
		}
		resp, err := client.Get("http://" + p.addr + "/readyz")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("the process does not become ready")
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.gone
}

// interrupt is Ctrl-C.
func (p *process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the end and gives the exit status.
func (p *process) exit(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-p.gone:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		t.Fatalf("the process has not ended within %s; it printed:\n%s", within, p.out)
		return 0
	}
}

var ports struct {
	sync.Mutex
	given map[int]bool
}

// freeAddress gives a port that nothing listens on. It is below those that systems give to outgoing
// connections, so that it stays free until it is used.
func freeAddress() string {
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	for {
		port := 20000 + rand.IntN(12000)
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		listener, err := net.Listen("tcp", addr)
		if err != nil || ports.given[port] {
			continue
		}
		_ = listener.Close()
		ports.given[port] = true
		return addr
	}
}
