package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// disk is a small file system of its own in a file, so that it can be filled without hurting anybody else.
type disk struct {
	path string

	mu      sync.Mutex
	ballast *os.File // takes all room while the disk is full
	size    int64
}

// diskSize is more than any run fills by itself. The file takes no room before it is written to.
const diskSize = 1 << 30

func newDisk(t *testing.T, dir string) *disk {
	t.Helper()
	d := &disk{path: filepath.Join(dir, "disk")}
	image := d.path + ".img"
	err := errors.Join(os.Mkdir(d.path, 0o755), os.WriteFile(image, nil, 0o600), os.Truncate(image, diskSize))
	if err != nil {
		t.Fatal(err)
	}
	owner := fmt.Sprintf("root_owner=%d:%d", os.Getuid(), os.Getgid())
	for _, cmd := range []*exec.Cmd{
		exec.Command(program("mke2fs"), "-q", "-F", "-t", "ext4", "-m", "0", "-O", "^has_journal", "-E", owner, image),
		asRoot("mount", "-o", "loop", image, d.path),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s\nA disk that can be filled needs a file that can be mounted: root or sudo without a password, and loop devices.", cmd.Args, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := asRoot("umount", "-l", d.path).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	if d.ballast, err = os.Create(filepath.Join(d.path, "ballast")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.ballast.Close() })
	return d
}

// asRoot is a command with the rights of root, or one that fails at once.
func asRoot(args ...string) *exec.Cmd {
	if os.Geteuid() != 0 {
		args = append([]string{"sudo", "-n"}, args...)
	}
	return exec.Command(args[0], args[1:]...)
}

// folder makes one on the disk.
func (d *disk) folder(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(d.path, name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// fill leaves no room, in smaller and smaller steps.
func (d *disk) fill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for step := int64(diskSize / 2); step >= 4096; {
		if allocate(d.ballast, d.size, step) != nil {
			step /= 2
			continue
		}
		d.size += step
	}
}

// empty gives the room back.
func (d *disk) empty() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.size = 0
	_ = d.ballast.Truncate(0) // what stays full shows in the verdict
}

// full leaves no room for a while, or for longer until somebody has met that; what its user frees is
// taken again. met counts them.
func (d *disk) full(last time.Duration, met func() int) (times int) {
	for begin := time.Now(); time.Since(begin) < 2*longest; time.Sleep(20 * time.Millisecond) {
		d.fill()
		if times = met(); times > 0 && time.Since(begin) > last {
			break
		}
	}
	return times
}

func TestDiskIsFullUntilItIsEmptied(t *testing.T) {
	t.Parallel()
	asked(t)
	d := newDisk(t, t.TempDir())
	files := 0
	write := func() error {
		files++
		return os.WriteFile(filepath.Join(d.path, fmt.Sprint(files)), make([]byte, 1<<20), 0o600)
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		refused := 0
		if d.full(0, func() int {
			if write() != nil {
				refused++
			}
			return refused
		}) == 0 {
			t.Error("there is room on the full disk")
		}
		d.empty()
		if err := write(); err != nil {
			t.Errorf("on the disk that was emptied: %v", err)
		}
	}
}
