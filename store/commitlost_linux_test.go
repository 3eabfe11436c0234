package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestACommitWhoseFileCannotBeWrittenIsUnknown: the writes are in memory until the commit, so this is where
// a disk that is gone shows first. What it has kept is known when it is read again, and only then.
func TestACommitWhoseFileCannotBeWrittenIsUnknown(t *testing.T) {
	d := storetest.SQLite(t)
	d.Pool = 1
	db := d.Open(t, nil)
	s := scope(t)
	claim := func() error {
		tx := db.Begin()
		tx.InsertMessage(message(db), s)
		tx.ClaimDone(newKeyOf(s), created(db), "")
		return tx.Commit(t.Context())
	}
	repair := breakWrites(t, filepath.Join(d.Dir, "eenmaal.db-wal"))
	err := claim()
	if lite, ok := errors.AsType[*sqlite.Error](err); !ok || lite.Code()&0xff != sqlite3.SQLITE_IOERR {
		t.Fatalf("got %v, want an I/O error: the test broke something else", err)
	}
	if !errors.Is(err, store.ErrCommitUnknown) || !store.IsDown(err) {
		t.Errorf("got %v, want one that says the outcome is unknown and the database is down", err)
	}
	repair()
	if _, found, err := db.Claim(t.Context(), s); found || err != nil {
		t.Errorf("read again: found %v, %v", found, err)
	}
	must(t, claim())
	if _, found, err := db.Claim(t.Context(), s); !found || err != nil {
		t.Errorf("done again: found %v, %v", found, err)
	}
}

// breakWrites lets every write to a file that this process has open once fail, as on a disk that is gone,
// and gives the way to repair it. Reading goes on.
func breakWrites(t *testing.T, path string) (repair func()) {
	t.Helper()
	fd := descriptorOf(t, path)
	whole, err := syscall.Dup(fd)
	must(t, err)
	readOnly, err := os.Open(path)
	must(t, err)
	must(t, syscall.Dup3(int(readOnly.Fd()), fd, syscall.O_CLOEXEC))
	must(t, readOnly.Close())
	repaired := false
	repair = func() {
		if !repaired {
			must(t, syscall.Dup3(whole, fd, syscall.O_CLOEXEC))
			must(t, syscall.Close(whole))
			repaired = true
		}
	}
	t.Cleanup(repair)
	return repair
}

func descriptorOf(t *testing.T, path string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	var found []int
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && target == path {
			fd, err := strconv.Atoi(e.Name())
			must(t, err)
			found = append(found, fd)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s is open %d times, want once", path, len(found))
	}
	return found[0]
}
