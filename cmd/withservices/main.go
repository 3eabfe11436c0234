// Command withservices runs another command with a Postgres, a Redis and a mail
// server of its own beside it:
//
//	go run ./cmd/withservices -- go test ./...
//
// The command finds them in TEST_POSTGRES_URL, TEST_REDIS_URL, TEST_SMTP_URL and,
// for what the mail server took, TEST_INBOX_URL. It also gets EENMAAL_TEST_ALL=1,
// which forbids tests to skip for lack of a service. All services are gone when
// the command ends, and its exit status is ours.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"example.com/eenmaal/store/throwaway"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: withservices -- command [argument ...]")
		os.Exit(2)
	}
	status, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "withservices:", err)
	}
	os.Exit(status)
}

// run returns the exit status of the command; with an error, the command could
// not be run at all.
func run(args []string) (status int, err error) {
	// Caught from the start: a Ctrl-C while Postgres starts must not end us
	// before Stop has removed its files.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)

	postgres, err := throwaway.Postgres("", throwaway.Options{})
	if err != nil {
		return 1, err
	}
	defer postgres.Stop()
	redis, err := throwaway.Redis("", throwaway.Options{})
	if err != nil {
		return 1, err
	}
	defer redis.Stop()
	mail, err := throwaway.Mailpit("", throwaway.Options{})
	switch {
	case errors.Is(err, throwaway.ErrNotInstalled):
		// Few tests send mail, and those fail.
		fmt.Fprintln(os.Stderr, "withservices: no mail server:", err)
		mail = &throwaway.Server{}
	case err != nil:
		return 1, err
	default:
		defer mail.Stop()
	}

	//nolint:noctx // ended by the signals we pass on, not by a context
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"TEST_POSTGRES_URL="+postgres.URL,
		"TEST_REDIS_URL="+redis.URL,
		"TEST_SMTP_URL="+mail.URL,
		"TEST_INBOX_URL="+mail.Inbox,
		"EENMAAL_TEST_ALL=1",
	)
	if err := cmd.Start(); err != nil {
		return 127, err // as a shell says "command not found"
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may have ended this very moment
		case err := <-ended:
			return exitStatus(err)
		}
	}
}

// exitStatus is the shell's convention: 128 and the signal for a killed command.
func exitStatus(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 1, err
	case exit.ExitCode() >= 0:
		return exit.ExitCode(), nil
	default:
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok {
			return 128 + int(ws.Signal()), nil
		}
		return 1, nil
	}
}
