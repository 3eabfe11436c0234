package throwaway

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// Postgres starts a new, empty cluster. Its files go into a new folder inside
// dir; an empty dir means memory when there is enough, else the temporary
// folder. The one account is "postgres" and needs no password.
//
// Postgres refuses to run as root. Called by root, it runs as the account
// "postgres" or, where that is missing, "nobody"; so dir must be a folder
// every account may enter, which t.TempDir() is not.
func Postgres(dir string, o Options) (*Server, error) {
	initdb, err := findPostgres("initdb")
	if err != nil {
		return nil, err
	}
	postgres, err := findPostgres("postgres")
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	home, unlock, err := newFolder(dir, "postgres", as)
	if err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	data := filepath.Join(home, "data")
	s := &Server{name: "postgres", dir: home, account: as, unlock: unlock, stop: sigInt} // SIGINT: end sessions, shut down clean

	//nolint:noctx // ends by itself within seconds
	setup := exec.Command(initdb, "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C", "--no-sync", "--no-instructions")
	setup.Dir, setup.Env, setup.SysProcAttr = home, plainEnv(), attributes(as)
	if out, err := setup.CombinedOutput(); err != nil {
		s.Stop()
		return nil, fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}

	settings := postgresSettings(home, o)
	s.ready = func(pid int) bool { return postgresReady(data, pid) }
	return startOnFreePort(s, func(port int) {
		s.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
		s.command = []string{postgres, "-D", data, "-p", strconv.Itoa(port)}
		for name, value := range settings {
			s.command = append(s.command, "-c", name+"="+value)
		}
	})
}

func findPostgres(program string) (string, error) {
	return find(program, "apt-get install postgresql",
		"/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                   // Red Hat
		"/opt/homebrew/opt/postgresql@*/bin", // macOS; not linked into PATH
		"/usr/local/opt/postgresql@*/bin",    // macOS on Intel
		"/opt/homebrew/opt/postgresql/bin",   //
		"/usr/local/opt/postgresql/bin",      //
		"/usr/local/pgsql/bin",               // built by hand
	)
}

func postgresSettings(home string, o Options) map[string]string {
	settings := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": home,
		"max_connections":         "200",
		"jit":                     "off", // compiling a query costs more than our queries do
		"timezone":                "UTC",
	}
	if !o.Durable {
		for name, value := range map[string]string{
			// Not synchronous_commit: a commit that was answered has to survive Kill.
			"fsync":            "off",
			"full_page_writes": "off",
			"wal_level":        "minimal",
			"max_wal_senders":  "0",
			"min_wal_size":     "32MB", // it may live in memory
			"max_wal_size":     "256MB",
			// Inside our folder, so that nothing outlives a killed owner.
			"dynamic_shared_memory_type": "mmap",
		} {
			settings[name] = value
		}
	}
	for name, value := range o.Settings {
		settings[name] = value
	}
	return settings
}

// postgresReady reads what pg_ctl reads: line 1 of postmaster.pid is the
// process, so a file left by a killed one does not count, and line 8 its state.
func postgresReady(data string, pid int) bool {
	file, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return false // not written yet
	}
	lines := bytes.Split(file, []byte("\n"))
	return len(lines) >= 8 &&
		string(lines[0]) == strconv.Itoa(pid) &&
		string(bytes.TrimSpace(lines[7])) == "ready"
}
