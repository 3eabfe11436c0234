package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// supported: the harness freezes, kills and lists processes, which every system does in its own way.
const supported = true

// dieWithUs lets the kernel end a child when the harness is killed.
func dieWithUs(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// asPostgres lets a command run as an account that Postgres accepts, since it refuses root, and hands it
// the folder.
func asPostgres(cmd *exec.Cmd, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numbers on Linux
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return os.Chown(dir, int(uid), int(gid))
	}
	return fmt.Errorf("root needs an account named postgres or nobody to run Postgres as")
}

func freeze(p *os.Process)    { signalFamily(p, syscall.SIGSTOP) }
func thaw(p *os.Process)      { signalFamily(p, syscall.SIGCONT) }
func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) } // it may have ended

// killFamily ends a process and its children as kill -9 does. A Postgres whose main process alone is
// killed leaves sessions behind, which keep the next one from starting.
func killFamily(p *os.Process) {
	_ = p.Signal(syscall.SIGSTOP) // no new children
	family := children(p.Pid)
	signalFamily(p, syscall.SIGKILL)
	for _, child := range family { // one that is still busy dying keeps its memory, and with it the next server, from starting
		for begin := time.Now(); lives(child) && time.Since(begin) < 10*time.Second; {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// lives reports whether a process holds anything still.
func lives(pid int) bool {
	state, _ := stat(fmt.Sprintf("/proc/%d/stat", pid))
	return state != "" && state != "Z"
}

// signalFamily goes through os.Process, which knows when the process has ended: its number may be
// somebody else's by then.
func signalFamily(p *os.Process, signal syscall.Signal) {
	if p.Signal(syscall.Signal(0)) != nil {
		return
	}
	for _, child := range children(p.Pid) {
		_ = syscall.Kill(child, signal)
	}
	_ = p.Signal(signal)
}

// children lists the processes that pid has started and that are alive.
func children(pid int) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		if state, parent := stat(file); parent == pid && state != "Z" {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			list = append(list, child)
		}
	}
	return list
}

// stat reads the state of a process and its parent; both are empty when it has ended.
func stat(file string) (state string, parent int) {
	text, _ := os.ReadFile(file)
	end := strings.LastIndexByte(string(text), ')') // the name before the state is in brackets and may hold any character
	_, _ = fmt.Sscan(string(text[end+1:]), &state, &parent)
	return state, parent
}

// allocate takes room on a disk without writing to it.
func allocate(file *os.File, from, size int64) error {
	return syscall.Fallocate(int(file.Fd()), 0, from, size)
}

// killed reports whether a process ended by kill -9.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
