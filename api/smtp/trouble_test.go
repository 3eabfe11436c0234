package smtp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/smtp"
)

// troubled is a mail server that does as it should until it has a whole mail, and then does end.
func troubled(t *testing.T, end func(net.Conn)) *smtp.Mailer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go converse(conn, end)
		}
	}()
	mailer, err := smtp.New("smtp://"+listener.Addr().String(), "shop@eenmaal.example")
	if err != nil {
		t.Fatal(err)
	}
	return mailer
}

func converse(conn net.Conn, end func(net.Conn)) {
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "220 hello\r\n")
	for lines, inMail := bufio.NewScanner(conn), false; lines.Scan(); {
		switch line := lines.Text(); {
		case inMail && line == ".":
			end(conn)
			return
		case inMail:
		case strings.HasPrefix(line, "DATA"):
			inMail = true
			_, _ = io.WriteString(conn, "354 go on\r\n")
		default:
			_, _ = io.WriteString(conn, "250 fine\r\n")
		}
	}
}

// A mail is sent when the server has said so. What goes wrong in the goodbye does not send it again.
func TestAServerThatHangsUpAfterAMailHasIt(t *testing.T) {
	t.Parallel()
	mailer := troubled(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "250 taken\r\n") })
	if err := mailer.Send(t.Context(), aMail()); err != nil {
		t.Errorf("a mail that was taken gave %v", err)
	}
	mailer = troubled(t, func(net.Conn) {})
	if err := mailer.Send(t.Context(), aMail()); err == nil {
		t.Error("a mail of which nothing is known gave no error")
	}
}

// A worker that is told to stop, and a job that has had its time, do not wait for a silent server.
func TestSendingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	mailer := troubled(t, func(conn net.Conn) {
		cancel()
		_, _ = io.Copy(io.Discard, conn) // until the other side goes
	})
	begin := time.Now()
	if err := mailer.Send(ctx, aMail()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
