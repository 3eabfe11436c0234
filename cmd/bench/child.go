package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// child is this program serving one thing in a process of its own, so that its CPU time can be told
// from that of the load. It ends when its input does, so it does not outlive us.
type child struct {
	address string // host:port
	pid     int
	cmd     *exec.Cmd
	input   io.Closer
}

func (c *child) url() string { return "http://" + c.address }

// spawn starts `bench serve role args...` and waits until it listens.
func (b *bench) spawn(role string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args = append([]string{"serve", "-role", role}, args...)
	if b.profiles != "" {
		args = append(args, "-profile", filepath.Join(b.profiles, fmt.Sprintf("%s-%d.pprof", role, time.Now().UnixMilli())))
	}
	c := &child{cmd: exec.Command(self, args...)} //nolint:noctx // stop ends it, and the end of its input
	c.cmd.Stderr = os.Stderr
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.pid = c.cmd.Process.Pid
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("%s did not start: %w", role, err)
	}
	c.address = strings.TrimSpace(line)
	return c, nil
}

// stop ends the child and waits for it.
func (c *child) stop() {
	_ = c.input.Close() // tells it to end
	done := make(chan struct{})
	go func() {
		_ = c.cmd.Wait() // how it ended no longer matters
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		_ = c.cmd.Process.Kill() // it may have ended just now
		<-done
	}
}

// children are stopped together.
type children []*child

func (list *children) add(c *child, err error) (*child, error) {
	if err == nil {
		*list = append(*list, c)
	}
	return c, err
}

func (list *children) stop() {
	for _, c := range *list {
		c.stop()
	}
}
