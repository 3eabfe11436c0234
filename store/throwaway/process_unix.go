//go:build linux || darwin

package throwaway

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	sigInt  = syscall.SIGINT
	sigTerm = syscall.SIGTERM
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// account is whom a server runs as.
type account struct{ uid, gid uint32 }

// unprivileged finds an account for programs that refuse root; nil when we are
// not root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil && uid != 0 {
			return &account{uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("root needs an account named postgres or nobody to run it as")
}

// attributes gives a child a process group of its own, so that Ctrl-C in the
// terminal reaches us and not the server: tests end first, then the server.
func attributes(as *account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		attr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
	dieWithParent(attr)
	return attr
}

func signal(pid int, sig syscall.Signal) { _ = syscall.Kill(pid, sig) }

// alive counts a process that waits for its burial as dead.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	state, _ := afterName(stat)
	return state != "Z" && state != "X"
}

// descendants lists the children of a process and theirs.
func descendants(pid int) []int {
	var found []int
	family := parents()
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for child, parent := range family {
			if parent == queue[0] {
				found = append(found, child)
				queue = append(queue, child)
			}
		}
	}
	return found
}

// parents maps every process to its parent. It reads /proc where there is one,
// because a small Debian has no ps.
func parents() map[int]int {
	family := map[int]int{}
	if runtime.GOOS == "linux" {
		files, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, file := range files {
			stat, err := os.ReadFile(file)
			if err != nil {
				continue // ended meanwhile
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if state, parent := afterName(stat); state != "Z" {
				family[pid] = parent
			}
		}
		return family
	}
	//nolint:noctx // ends by itself
	out, _ := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		if n, _ := fmt.Sscan(line, &pid, &parent); n == 2 {
			family[pid] = parent
		}
	}
	return family
}

// afterName reads state and parent from /proc/<pid>/stat. The name before them
// is in brackets and may itself hold spaces and brackets.
func afterName(stat []byte) (state string, parent int) {
	text := string(stat)
	_, _ = fmt.Sscan(text[strings.LastIndexByte(text, ')')+1:], &state, &parent)
	return state, parent
}

// newFolder makes the folder a server lives in and locks it. The lock goes with
// this process, so the next run can tell a folder in use from one whose owner
// was killed, and removes the latter.
func newFolder(base, name string, owner *account) (path string, unlock func(), err error) {
	if base == "" {
		base = tempBase()
		sweep(base)
	}
	if base, err = filepath.Abs(base); err != nil {
		return "", nil, err
	}
	if path, err = os.MkdirTemp(base, prefix+name+"-"); err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil && owner != nil {
		err = os.Chown(path, int(owner.uid), int(owner.gid))
	}
	if err == nil && owner != nil {
		err = enterable(path, owner)
	}
	if err != nil {
		_ = os.RemoveAll(path)
		return "", nil, err
	}
	return path, func() { _ = lock.Close() }, nil
}

const prefix = "eenmaal-throwaway-"

// tempBase prefers memory, unless it is as small as a container's 64 MB.
func tempBase() string {
	const memory = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < 2<<30 {
		return os.TempDir()
	}
	probe, err := os.MkdirTemp(memory, prefix+"probe-")
	if err != nil {
		return os.TempDir()
	}
	_ = os.Remove(probe)
	return memory
}

// sweep removes what killed runs left. A folder younger than a minute may not
// have its lock yet.
func sweep(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, prefix+"*", "lock"))
	for _, path := range locks {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue // somebody else's
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = lock.Close()
	}
}

// enterable tries what the server will have to do, because its own complaint
// about a folder it may not enter does not name the folder.
func enterable(path string, as *account) error {
	//nolint:noctx // ends by itself
	cmd := exec.Command("/bin/sh", "-c", `cd "$0"`, path)
	cmd.Dir, cmd.SysProcAttr = "/", attributes(as)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the account with uid %d cannot enter %s: give a folder whose parents all have the x bit for others", as.uid, path)
	}
	return nil
}
