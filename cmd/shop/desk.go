package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
		User: a.cfg.AdminUser, PasswordHash: a.cfg.AdminPasswordHash, OneClick: a.cfg.demo(),
	}
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
