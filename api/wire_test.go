package api_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
)

// wire is a TCP connection in the middle, on which a test loses an answer or counts what passes.
type wire struct {
	listener net.Listener
	target   string
	lose     atomic.Bool  // lose the next answer, and the connection with it
	lost     atomic.Int64 // answers lost
	trips    atomic.Int64 // Postgres: how often the client waited for the server
	requests atomic.Int64 // pieces of client traffic
	postgres bool
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	return startWire(t, &wire{target: target})
}

func startWire(t *testing.T, w *wire) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback
	must(t, err)
	w.listener = listener
	t.Cleanup(func() { _ = listener.Close() })
	go w.accept()
	return w
}

// newPostgresWire gives a wire to a database and the database's address on it.
func newPostgresWire(t *testing.T, address string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	w := startWire(t, &wire{target: u.Host, postgres: true})
	u.Host = w.listener.Addr().String()
	return w, u.String()
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.target) //nolint:noctx // loopback
		if err != nil {
			_ = client.Close()
			continue
		}
		go w.toServer(client, server)
		go w.toClient(server, client)
	}
}

func (w *wire) toServer(client, server net.Conn) {
	defer func() { _, _ = client.Close(), server.Close() }()
	if w.postgres {
		_ = w.countTrips(client, server)
		return
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		w.requests.Add(1)
		if _, writeErr := server.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// countTrips counts the messages after which a client of Postgres waits: Sync and Query.
func (w *wire) countTrips(client io.Reader, server io.Writer) error {
	size := make([]byte, 4) // the start-up message has no type
	for kind := byte(0); ; {
		if _, err := io.ReadFull(client, size); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(size)
		if n < 4 {
			return errors.New("not Postgres")
		}
		message := append([]byte{}, size...)
		if kind != 0 {
			message = append([]byte{kind}, size...)
		}
		body := make([]byte, n-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if kind == 'S' || kind == 'Q' {
			w.trips.Add(1)
		}
		if _, err := server.Write(append(message, body...)); err != nil {
			return err
		}
		next := make([]byte, 1)
		if _, err := io.ReadFull(client, next); err != nil {
			return err
		}
		kind = next[0]
	}
}

func (w *wire) toClient(server, client net.Conn) {
	defer func() { _, _ = client.Close(), server.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if n > 0 && w.lose.CompareAndSwap(true, false) {
			w.lost.Add(1)
			return
		}
		if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
