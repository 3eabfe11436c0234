package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/term"

	"example.com/eenmaal/web/admin"
)

// desk is the staff's part of the pages, or nil where nobody could sign in.
func (a *app) desk() *admin.Config {
	if a.cfg.AdminPasswordHash == "" && !a.cfg.demo() {
		return nil
	}
	return &admin.Config{
		Ops: admin.Ops{CancelOrder: a.api.CancelOrder, CapturePayment: a.api.CapturePayment,
			VoidPayment: a.api.VoidPayment, RefundPayment: a.api.RefundPayment, Redeliver: a.api.Redeliver},
		Reader: a.db, Sessions: a.db, Support: a.api, Jobs: a.jobs, Explain: a.db,
		Pressed: a.presses.count, User: a.cfg.AdminUser, PasswordHash: a.cfg.AdminPasswordHash, OneClick: a.cfg.demo(),
	}
}

// presses count what the staff presses that is no keyed operation: those are counted with all others.
type presses struct{ total *prometheus.CounterVec }

func (a *app) newPresses() presses {
	p := presses{prometheus.NewCounterVec(prometheus.CounterOpts{Name: "desk_presses_total",
		Help: "Presses at the desk that are no keyed operation, by what they ask for and whether their form was sent before (executed, replayed)."}, []string{"action", "outcome"})}
	a.metrics.MustRegister(p.total)
	return p
}

func (p presses) count(action string, again bool) {
	outcome := "executed"
	if again {
		outcome = "replayed"
	}
	p.total.WithLabelValues(action, outcome).Inc()
}

type passwordCmd struct{}

// minPassword is what a password that opens the desk must have.
const minPassword = 12

// Run reads a password and prints the hash for ADMIN_PASSWORD_HASH.
func (passwordCmd) Run() error {
	password, err := readPassword(os.Stdin)
	if err != nil {
		return err
	}
	if len([]rune(password)) < minPassword {
		return fmt.Errorf("the password must have at least %d characters", minPassword)
	}
	fmt.Println(admin.HashPassword(password))
	return nil
}

// readPassword reads one line, which a terminal does not show.
func readPassword(in *os.File) (string, error) {
	if fd := int(in.Fd()); term.IsTerminal(fd) { //nolint:gosec // a file descriptor is small
		fmt.Fprint(os.Stderr, "Password: ")
		typed, err := term.ReadPassword(fd)
		fmt.Fprintln(os.Stderr)
		return string(typed), err
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}
