package simulated

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

// ClientConfig configures a Client. Only BaseURL is required.
type ClientConfig struct {
	BaseURL        string        // the provider's address, without /psp/v1
	HTTP           *http.Client  // default: one that gives up dialling after 1 s
	Attempts       int           // tries per call; default 2
	AttemptTimeout time.Duration // per try; default 4 s
	KeyMemory      time.Duration // how long the provider remembers keys; default 24 h, as real ones
	Log            *slog.Logger  // default: discard
}

// Client is the shop's side: the domain.PaymentProvider that calls a Server.
type Client struct {
	base     string // the provider's address
	http     *http.Client
	attempts int
	timeout  time.Duration
	memory   time.Duration
	log      *slog.Logger
}

var _ domain.PaymentProvider = (*Client)(nil)

// NewClient makes a client. It does not call the provider yet.
func NewClient(cfg ClientConfig) (*Client, error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("simulated provider: BaseURL %q is not an http address", cfg.BaseURL)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{
		base: strings.TrimRight(cfg.BaseURL, "/"), http: httpClient(cfg.HTTP),
		attempts: max(cmp.Or(cfg.Attempts, 2), 1), timeout: cmp.Or(cfg.AttemptTimeout, 4*time.Second),
		memory: cmp.Or(cfg.KeyMemory, 24*time.Hour), log: cfg.Log,
	}, nil
}

// KeyMemory is what the configuration says of the provider.
func (c *Client) KeyMemory() time.Duration { return c.memory }

// Charge asks for money, on every try with the same key.
//
// A try that may have reached the provider and has no clear answer is repeated, within ctx. The
// error wraps domain.ErrNotCharged only if that is certain for every try of this call: no connection
// was made at all, or the provider said so. It then knows nothing of earlier calls with the key: who
// resumes a payment and gets ErrNotCharged because the provider cannot be reached must still ask Find.
//
// A "503, nothing charged" is not repeated here: it is certain, so the outermost client may decide.
func (c *Client) Charge(ctx context.Context, key string, r domain.ChargeRequest) (domain.Charge, error) {
	body, err := json.Marshal(wireRequest(r))
	if err != nil {
		return domain.Charge{}, fmt.Errorf("charge %s: %w: %w", r.Reference, domain.ErrNotCharged, err)
	}
	var doubt error // of the first try that may have charged
	for try := 1; ; try++ {
		charge, err := c.tryCharge(ctx, key, r, body)
		if err == nil {
			return charge, nil
		}
		if doubt == nil && !errors.Is(err, domain.ErrNotCharged) {
			doubt = err
		}
		if !c.again(ctx, "charge", r.Reference, try, err) {
			return domain.Charge{}, chargeError(r.Reference, doubt, err)
		}
	}
}

func wireRequest(r domain.ChargeRequest) chargeRequest {
	wire := chargeRequest{Reference: r.Reference, Amount: r.Amount.Amount, Currency: r.Amount.Currency,
		Token: r.Method.Token, ReturnURL: r.ReturnURL}
	if r.Method.Type == methodIDEAL {
		wire.Method = methodIDEAL
	}
	if r.Manual {
		wire.Capture = captureManual
	}
	return wire
}

// chargeError keeps a doubt: that the last try certainly charged nothing does not tell what an
// earlier one did, so its error is told but not wrapped.
func chargeError(reference string, doubt, last error) error {
	switch {
	case doubt == nil || errors.Is(last, doubt):
		return fmt.Errorf("charge %s: %w", reference, last)
	default:
		return fmt.Errorf("charge %s: %w (last try: %s)", reference, doubt, last.Error())
	}
}

// again decides whether to try once more, and pauses first. The pause is random, so that clients
// which failed together do not come back together.
func (c *Client) again(ctx context.Context, what, reference string, try int, err error) bool {
	if _, ok := errors.AsType[*retryable](err); !ok || try >= c.attempts {
		return false
	}
	pause := time.NewTimer(50*time.Millisecond + rand.N(200*time.Millisecond))
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-pause.C:
		c.log.Warn("asking the provider again", "call", what, "reference", reference, "try", try+1, "error", err)
		return ctx.Err() == nil
	}
}

// httpClient never follows a redirect: that would be a try that nobody counted.
func httpClient(given *http.Client) *http.Client {
	var client http.Client
	if given != nil {
		client = *given
	} else {
		client.Transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: time.Second}).DialContext,
			MaxIdleConns:        64,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     30 * time.Second,
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}
