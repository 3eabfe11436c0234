package chaos

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// replica is one process of the shop under supervision: when it dies, whatever of, the next one starts
// after restartPause.
type replica struct {
	name string
	addr string
	dir  string
	env  map[string]string
	log  *os.File

	mu       sync.Mutex
	cmd      *exec.Cmd
	started  int
	deaths   int
	rule     string        // of the process that runs; see FAILPOINTS
	nextRule string        // of the next one, and of that one alone
	gone     chan struct{} // closed when the process that runs has ended
	diedAt   string        // failpoint at which the last one killed itself
	stopped  bool
	ended    chan struct{} // closed when the supervisor has ended
}

const restartPause = 100 * time.Millisecond

func newReplica(t *testing.T, dir, name string, env map[string]string) *replica {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{name: name, addr: freeAddress(t), dir: dir, env: maps.Clone(env), log: log, ended: make(chan struct{})}
	r.env["ADDR"] = r.addr
	if err := r.launch(); err != nil {
		t.Fatal(err)
	}
	go r.supervise()
	t.Cleanup(func() { r.stop(); _ = log.Close() })
	return r
}

func (r *replica) launch() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	env := maps.Clone(r.env)
	r.rule, r.nextRule = r.nextRule, ""
	r.started++
	if r.rule != "" {
		env["FAILPOINTS"] = r.rule + ",trace=" + r.trace()
	}
	r.cmd = shopCommand(env)
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	dieWithUs(r.cmd)
	r.gone = make(chan struct{})
	return r.cmd.Start()
}

// trace is the file in which the running process writes down the failpoints it passes.
func (r *replica) trace() string {
	return filepath.Join(r.dir, fmt.Sprintf("%s-%d.trace", r.name, r.started))
}

func (r *replica) supervise() {
	defer close(r.ended)
	for {
		_ = r.cmd.Wait() // how it ended is in its state
		r.mu.Lock()
		r.deaths++
		r.diedAt = ""
		if r.rule != "" && killed(r.cmd.ProcessState) {
			r.diedAt = lastLine(r.trace())
		}
		close(r.gone)
		stopped := r.stopped
		r.mu.Unlock()
		if stopped {
			return
		}
		time.Sleep(restartPause)
		if err := r.launch(); err != nil {
			panic(err) // the binary is gone
		}
		if r.isStopped() {
			return
		}
	}
}

func (r *replica) isStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// life is the process that runs now, and a channel that is closed when it has ended.
func (r *replica) life() (process *os.Process, gone <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cmd.Process, r.gone
}

// kill ends the process as kill -9 does. The next one gets the rule.
func (r *replica) kill(rule string) {
	r.mu.Lock()
	r.nextRule = rule
	gone := r.gone
	_ = r.cmd.Process.Kill() // it may have ended
	r.mu.Unlock()
	<-gone
}

// awaitDeath waits for the process that runs to end and gives the failpoint that ended it.
func (r *replica) awaitDeath(within time.Duration) (point string) {
	_, gone := r.life()
	select {
	case <-gone:
	case <-time.After(within):
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.diedAt
}

// awaitReady waits until the process says that it can serve.
func (r *replica) awaitReady(within time.Duration) bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp, err := client.Get("http://" + r.addr + "/readyz")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return true
		}
	}
	return false
}

// restart asks the process to end and waits for the next one.
func (r *replica) restart(within time.Duration) bool {
	process, gone := r.life()
	terminate(process)
	select {
	case <-gone:
	case <-time.After(within):
		return false
	}
	time.Sleep(restartPause)
	return r.awaitReady(within)
}

func (r *replica) stop() {
	r.mu.Lock()
	r.stopped = true
	_ = r.cmd.Process.Kill()
	r.mu.Unlock()
	<-r.ended
}

func (r *replica) hasRule() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rule != ""
}

// traced is what the running process has passed.
func (r *replica) traced() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, _ := os.ReadFile(r.trace()) // absent when it was told to pass nothing
	return string(text)
}
