// Package outbound posts to addresses that outsiders chose, without letting them reach anything but
// the public internet: nothing of ours, of our host or of our hosting company.
//
// The address that counts is the one a connection is made to. It is checked at that moment, after the
// name was resolved, so it does not help to change what a name resolves to.
package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Config of a Client. The zero value is the strict one.
type Config struct {
	// Demo also allows this machine itself, over http too, and any port.
	Demo     bool
	Timeout  time.Duration // of a whole exchange; 5 s when zero
	Resolver *net.Resolver // the system's when nil
}

// Client posts. It follows no redirect, keeps no cookie, uses no proxy and shows no answer.
type Client struct {
	demo bool
	http *http.Client
}

const (
	maxAnswer = 64 << 10 // read, to be polite, and thrown away
	maxHeader = 16 << 10
)

// New makes a client.
func New(cfg Config) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	c := &Client{demo: cfg.Demo}
	dialer := &net.Dialer{Resolver: cfg.Resolver, ControlContext: c.control}
	c.http = &http.Client{
		Timeout: cfg.Timeout,
		// Every post has a connection of its own, so that each is checked.
		Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: maxHeader},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

var errNotPublic = errors.New("the address is not public")

// control runs before each connection, when the address is final.
func (c *Client) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !c.mayDial(to) {
		return errNotPublic
	}
	return nil
}

// Failure says in one of a few short codes why no answer came. It names neither the address nor
// anything that was received.
type Failure string

func (f Failure) Error() string { return string(f) }

// Post sends a body and gives the status that came back. An error is a Failure.
func (c *Client) Post(ctx context.Context, address string, header http.Header, body []byte) (status int, err error) {
	if err := c.CheckURL(address); err != nil {
		return 0, Failure("address_refused")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, Failure("address_refused")
	}
	req.Header = header.Clone()
	req.Header.Set("User-Agent", "Eenmaal-Webhooks")
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, failure(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // the status is what counts, and it is here
	return resp.StatusCode, nil
}

func failure(err error) Failure {
	var network net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errNotPublic):
		return "address_refused"
	case errors.As(err, &name) && !name.IsTimeout:
		return "name_not_found"
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.As(err, &certificate):
		return "certificate_refused"
	default:
		return "connection_failed"
	}
}
