package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver for looking into the database from outside

	"example.com/eenmaal/store/throwaway"
)

// services are the Postgres and the Redis of this run.
type services struct {
	postgres, redis *throwaway.Server
	dir             string // of Postgres; where the fsync probe writes
}

func startServices(dir string, ram bool) (*services, error) {
	s := &services{dir: dir}
	if ram {
		s.dir = "" // throwaway prefers memory
	}
	var err error
	if s.postgres, err = throwaway.Postgres(s.dir, throwaway.Options{Durable: true}); err != nil {
		return nil, err
	}
	if s.redis, err = throwaway.Redis(dir, throwaway.Options{}); err != nil {
		s.stop()
		return nil, err
	}
	if s.dir == "" {
		s.dir = os.TempDir()
	}
	return s, nil
}

func (s *services) stop() {
	for _, server := range []*throwaway.Server{s.redis, s.postgres} {
		if server != nil {
			server.Stop()
		}
	}
}

// newDatabase makes an empty database and gives its address.
func (s *services) newDatabase(ctx context.Context, name string) (string, error) {
	db, err := sql.Open("pgx", s.postgres.URL)
	if err != nil {
		return "", err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("create database %s: %w", name, err)
	}
	u, err := url.Parse(s.postgres.URL)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

var errDishonest = errors.New("refusing to report: Postgres does not keep its promises about the disk")

// readSettings reads back what Postgres says of itself. A measurement without these promises is of
// another product.
func (s *services) readSettings(ctx context.Context) (map[string]string, error) {
	db, err := sql.Open("pgx", s.postgres.URL)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	settings := map[string]string{}
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "server_version"} {
		var value string
		if err := db.QueryRowContext(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return nil, err
		}
		settings[name] = value
		if name != "server_version" && value != "on" {
			return nil, fmt.Errorf("%w: %s is %s", errDishonest, name, value)
		}
	}
	return settings, nil
}

// fsyncProbe is the median time of appending one block to a file and having it on the disk.
func (s *services) fsyncProbe() (time.Duration, error) {
	file, err := os.Create(filepath.Join(s.dir, fmt.Sprintf("eenmaal-fsync-%d", os.Getpid())))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	times, block := make([]time.Duration, 50), make([]byte, 8192)
	for i := range times {
		began := time.Now()
		if _, err := file.Write(block); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// loadAverage is what the machine does beside us; empty where it cannot be read.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known on " + runtime.GOOS
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
