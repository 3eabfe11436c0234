package client

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config configures a Client. BaseURL and Secret are required.
type Config struct {
	BaseURL     string        // the API's address, without /v1
	Secret      string        // the bearer key of this consumer
	HTTP        *http.Client  // default: one with connections of its own; redirects are never followed
	Attempt     time.Duration // the longest wait for one answer; default 4 s
	Budget      time.Duration // the longest time of a whole call, pauses and questions included; default 30 s
	DeadLetters DeadLetters   // default: none; what would be written is logged without its body
	Log         *slog.Logger  // default: discard
}

// Client calls the API. It keeps no key between calls, so no call can use the key of another. It may
// be used by many goroutines at once.
type Client struct {
	base     string
	secret   string
	http     *http.Client
	patience time.Duration // for one answer
	budget   time.Duration
	letters  DeadLetters
	log      *slog.Logger
}

// New makes a client. It does not call the API yet.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("client: BaseURL %q is not an http address", cfg.BaseURL)
	}
	if cfg.Secret == "" || strings.ContainsFunc(cfg.Secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("client: Secret must be visible ASCII without spaces")
	}
	if cfg.Attempt < 0 || cfg.Budget < 0 {
		return nil, errors.New("client: Attempt and Budget cannot be negative")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{
		base: strings.TrimRight(cfg.BaseURL, "/"), secret: cfg.Secret, http: httpClient(cfg.HTTP),
		patience: cmp.Or(cfg.Attempt, 4*time.Second), budget: cmp.Or(cfg.Budget, 30*time.Second),
		letters: cfg.DeadLetters, log: cfg.Log,
	}, nil
}

// httpClient never follows a redirect: that would be a try that nobody counted, perhaps to another
// host. It does keep connections, although net/http sends a request with an Idempotency-Key again by
// itself when a kept one breaks: with the key that is a duplicate like any other.
func httpClient(given *http.Client) *http.Client {
	var client http.Client
	if given != nil {
		client = *given
	} else {
		client.Transport = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			TLSHandshakeTimeout: 2 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     30 * time.Second,
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}
