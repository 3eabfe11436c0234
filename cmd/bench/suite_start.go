package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// start measures the built program, on both databases: how long until it answers, and how much
// memory it holds before and after load.
func (b *bench) start() error {
	program, err := b.buildShop()
	if err != nil {
		return err
	}
	lite, err := b.sqliteGround("start")
	if err != nil {
		return err
	}
	defer lite.close()
	postgres, err := b.postgresGround("start")
	if err != nil {
		return err
	}
	defer postgres.close()
	for _, g := range []*ground{lite, postgres} {
		if err := b.startOn(program, g); err != nil {
			return err
		}
	}
	return nil
}

// buildShop builds the program from the module that this command was run in.
func (b *bench) buildShop() (string, error) {
	program := filepath.Join(b.dir, "shop")
	module, err := exec.CommandContext(b.ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	cmd := exec.CommandContext(b.ctx, "go", "build", "-o", program, "./cmd/shop")
	cmd.Dir = strings.TrimSpace(string(module))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the shop: %w: %s", err, bytes.TrimSpace(out))
	}
	return program, nil
}

func (b *bench) startOn(program string, g *ground) error {
	name := "SQLite"
	if g.url != "" {
		name = "Postgres"
	}
	var times, idle []float64
	for i := range b.starts + 1 {
		p, took, err := b.launch(program, g)
		if err != nil {
			return err
		}
		if i > 0 { // the first one may still have migrations to do
			times = append(times, float64(took.Microseconds())/1000)
			time.Sleep(300 * time.Millisecond)
			idle = append(idle, residentOf(p.pid()))
		}
		p.end()
	}
	loaded, s, err := b.residentAfterLoad(program, g)
	if err != nil {
		return err
	}
	b.report.add(row{Suite: "start", What: "ms to the first answer, " + name, Value: tripleOf(times), Goal: atMost(150)})
	b.report.add(row{Suite: "start", What: "MiB idle, " + name, Value: tripleOf(idle), Goal: atMost(40)})
	b.report.add(row{Suite: "start", What: "MiB after load, " + name, Clients: 32, Value: tripleOf([]float64{loaded}), Goal: atMost(128),
		Ours: summary([]slice{s})})
	return nil
}

// residentAfterLoad loads a freshly started program for some slices.
func (b *bench) residentAfterLoad(program string, g *ground) (mib float64, s slice, err error) {
	p, _, err := b.launch(program, g)
	if err != nil {
		return 0, s, err
	}
	defer p.end()
	if g.last, err = g.look(b.ctx); err != nil { // the demo brings articles of its own
		return 0, s, err
	}
	s, err = b.measure(p.pid(), 32, 4*b.slice, func(int) (worker, error) {
		return dial(b.ctx, p.address, newOrder, expect(201, false))
	})
	if err == nil {
		err = g.count(b.ctx, s.ops)
	}
	return residentOf(p.pid()), s, err
}

// launched is the built program, running.
type launched struct {
	cmd     *exec.Cmd
	address string
	log     *os.File
}

func (p *launched) pid() int { return p.cmd.Process.Pid }

func (p *launched) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = p.cmd.Wait()                          // likewise
	_ = p.log.Close()
}

var errNoAnswer = errors.New("the shop does not answer")

// launch starts the program and measures until its first good answer.
func (b *bench) launch(program string, g *ground) (*launched, time.Duration, error) {
	listener, err := listen()
	if err != nil {
		return nil, 0, err
	}
	p := &launched{address: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		return nil, 0, err
	}
	if p.log, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		return nil, 0, err
	}
	dir := g.dir
	if dir == "" {
		dir = filepath.Join(b.dir, fmt.Sprintf("start-%d", rand.Uint32()))
	}
	p.cmd = exec.Command(program) //nolint:noctx // end ends it
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "ADDR=" + p.address, "DATA_DIR=" + dir, "DATABASE_URL=" + g.url}
	p.cmd.Stderr = p.log
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, 0, err
	}
	for time.Since(began) < 20*time.Second {
		if answers(b.ctx, p.address) {
			return p, time.Since(began), nil
		}
		time.Sleep(time.Millisecond)
	}
	p.end()
	return nil, 0, errNoAnswer
}

func answers(ctx context.Context, address string) bool {
	c, err := dial(ctx, address, func() []byte { return get("/readyz") }, expect(http.StatusOK, false))
	if err != nil {
		return false
	}
	defer c.close()
	return c.do() == nil
}
