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

func freeze(pid int)    { signalFamily(pid, syscall.SIGSTOP) }
func thaw(pid int)      { signalFamily(pid, syscall.SIGCONT) }
func terminate(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }

// killFamily ends a process and its children as kill -9 does. A Postgres whose main process alone is
// killed leaves sessions behind, which keep the next one from starting.
func killFamily(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP) // no new children
	signalFamily(pid, syscall.SIGKILL)
}

func signalFamily(pid int, signal syscall.Signal) {
	for _, child := range children(pid) {
		_ = syscall.Kill(child, signal)
	}
	_ = syscall.Kill(pid, signal)
}

// children lists the processes that pid has started and that are alive.
func children(pid int) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		var state string
		var parent int
		text := string(stat) // the name before the state is in brackets and may hold any character
		_, _ = fmt.Sscan(text[strings.LastIndexByte(text, ')')+1:], &state, &parent)
		if parent == pid && state != "Z" {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			list = append(list, child)
		}
	}
	return list
}

// killed reports whether a process ended by kill -9.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
