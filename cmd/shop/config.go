package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/store"
	"example.com/eenmaal/web/admin"
)

// Config is everything that can be set, all of it by environment variables. The desc tags make the
// README's table.
type Config struct {
	Addr    string `env:"ADDR" envDefault:"127.0.0.1:8080" desc:"listen address"`
	BaseURL string `env:"BASE_URL" desc:"where people reach the shop, for links in mails; from ADDR when empty. https:// makes cookies Secure"`
	Mode    string `env:"MODE" envDefault:"demo" desc:"demo: seeded catalogue, two API consumers, mailbox page; production: none of these"`

	DatabaseURL  string `env:"DATABASE_URL" desc:"postgres://...; empty: SQLite in DATA_DIR"`
	DatabasePool int    `env:"DATABASE_POOL" envDefault:"16" desc:"connections to Postgres"`
	DataDir      string `env:"DATA_DIR" envDefault:"./data" desc:"folder of the SQLite file and of the simulated provider's ledger"`
	RedisURL     string `env:"REDIS_URL" desc:"redis://host:6379/0, or redis+cluster://host:6379,host:6379 for a cluster; copies of finished answers and the counts of the limits, never needed; shops may share it; empty: none"`

	PSP    string `env:"PSP" envDefault:"simulated" desc:"payment provider; this release has simulated"`
	PSPURL string `env:"PSP_URL" desc:"address of the simulated provider when it runs elsewhere; empty: in this process"`

	PSPPublicURL  string   `env:"PSP_PUBLIC_URL" desc:"where customers reach the simulated provider's pages; empty: PSP_URL, or BASE_URL when it is in this process"`
	PSPWebhookURL string   `env:"PSP_WEBHOOK_URL" desc:"where the simulated provider sends its events; empty: /v1/webhooks/simulated of the shop, which shop psp knows only from BASE_URL"`
	WebhookSecret []string `env:"WEBHOOK_SECRET" desc:"signs the provider's events: whsec_ and base64 of at least 24 bytes; several with commas while rotating, the first signs; demo mode has one that everybody knows"`

	SMTPURL  string `env:"SMTP_URL" desc:"smtp://user:password@host:port; empty: mails are kept and shown, not sent"`
	MailFrom string `env:"MAIL_FROM" envDefault:"shop@eenmaal.example" desc:"sender of mails"`

	TTLContact  time.Duration `env:"TTL_CONTACT" envDefault:"48h" desc:"how long the answer to a contact message can be replayed"`
	TTLOrders   time.Duration `env:"TTL_ORDERS" envDefault:"72h" desc:"the same for orders"`
	TTLPayments time.Duration `env:"TTL_PAYMENTS" envDefault:"168h" desc:"the same for everything with money"`
	OrderExpiry time.Duration `env:"ORDER_EXPIRY" envDefault:"72h" desc:"how long an order waits for its payment; then it is cancelled and its articles can be sold again; not shorter than TTL_ORDERS, for which a checkout is kept"`
	RetryWindow time.Duration `env:"RETRY_WINDOW" envDefault:"24h" desc:"the longest time a client keeps retrying; a TTL not longer than this is refused"`

	SessionSecret     string `env:"SESSION_SECRET" desc:"signs cookies, at least 32 characters; demo mode has one that everybody knows"`
	APIConsumers      string `env:"API_CONSUMERS" desc:"name=secret,name=secret: API consumers to make at start; secrets have at least 32 characters"`
	AdminUser         string `env:"ADMIN_USER" envDefault:"staff" desc:"who signs in at the desk (/admin)"`
	AdminPasswordHash string `env:"ADMIN_PASSWORD_HASH" desc:"hash of the desk's password, as shop password prints it; empty: in demo mode anybody signs in with one click, in production there is no desk"`

	TrustedProxies []string `env:"TRUSTED_PROXIES" desc:"networks whose X-Forwarded-For is believed; empty: none"`

	RateLimit        int `env:"RATE_LIMIT" envDefault:"6000" desc:"new runs a minute of one API consumer, all at once or spread; replays and reads twenty times as many; 0: no limit"`
	RateLimitAddress int `env:"RATE_LIMIT_ADDRESS" envDefault:"1200" desc:"changes on pages and look-ups of API keys a minute from one address, and as many events with a wrong signature; 0: no limit"`
	RateLimitContact int `env:"RATE_LIMIT_CONTACT" envDefault:"300" desc:"new contact messages a minute from one address; 0: no limit"`
	MaxLiveKeys      int `env:"MAX_LIVE_KEYS" envDefault:"100000" desc:"kept answers of one API consumer; past it new keys are refused until some expire; 0: no limit"`

	KeyJournal bool `env:"KEY_JOURNAL" envDefault:"true" desc:"keep what happens with each key for 7 days, for the order's timeline and the staff; never needed: lines may be lost"`

	DrainDelay      time.Duration `env:"DRAIN_DELAY" envDefault:"0s" desc:"how long to answer not-ready before no longer accepting; give a load balancer 3s"`
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"15s" desc:"how long running requests and jobs may take to end"`
	LogFormat       string        `env:"LOG_FORMAT" envDefault:"text" desc:"text or json"`
}

// The demo's secrets are public by being here; production mode refuses them.
const (
	demoSecret        = "demo-session-secret-that-everybody-knows"
	demoWebhookSecret = "whsec_ZGVtby13ZWJob29rLXNlY3JldC1ldmVyeWJvZHkta25vd3M="
)

// ConfigError lists everything that is wrong with the configuration.
type ConfigError struct{ Problems []string }

func (e *ConfigError) Error() string {
	return "the configuration has problems:\n  - " + strings.Join(e.Problems, "\n  - ")
}

// LoadConfig reads the environment and checks all of it.
func LoadConfig(environment map[string]string) (Config, error) {
	cfg, err := env.ParseAsWithOptions[Config](env.Options{Environment: environment})
	var problems []string
	if all, ok := errors.AsType[env.AggregateError](err); ok {
		for _, one := range all.Errors {
			problems = append(problems, parseProblem(one))
		}
	} else if err != nil {
		problems = append(problems, err.Error())
	}
	cfg.fillIn()
	problems = append(problems, cfg.problems(len(problems) > 0)...)
	if len(problems) > 0 {
		return cfg, &ConfigError{problems}
	}
	return cfg, nil
}

func parseProblem(err error) string {
	if bad, ok := errors.AsType[env.ParseError](err); ok {
		for _, f := range fieldsOfConfig() {
			if f.GoName == bad.Name {
				return fmt.Sprintf("%s is not a valid %s", f.Name, f.Kind)
			}
		}
	}
	return err.Error()
}

func (c *Config) fillIn() {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	if c.BaseURL == "" {
		host, port, err := net.SplitHostPort(c.Addr)
		if err == nil {
			if host == "" || host == "0.0.0.0" || host == "::" {
				host = "localhost"
			}
			c.BaseURL = "http://" + net.JoinHostPort(host, port)
		}
	}
	if c.SessionSecret == "" && c.Mode == "demo" {
		c.SessionSecret = demoSecret
	}
	if len(c.WebhookSecret) == 0 && c.Mode == "demo" {
		c.WebhookSecret = []string{demoWebhookSecret}
	}
	if c.PSPPublicURL == "" {
		c.PSPPublicURL = cmp.Or(c.PSPURL, c.BaseURL)
	}
	c.PSPPublicURL = strings.TrimSuffix(c.PSPPublicURL, "/")
}

// problems checks what the types do not. unparsed says that some values were not even read.
func (c *Config) problems(unparsed bool) []string {
	var list []string
	problem := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	_, _, err := net.SplitHostPort(c.Addr)
	problem(err != nil, "ADDR must be host:port, such as 127.0.0.1:8080")
	base, err := url.Parse(c.BaseURL)
	problem(c.BaseURL != "" && (err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https")), "BASE_URL must be an http:// or https:// address")
	problem(c.Mode != "demo" && c.Mode != "production", "MODE must be demo or production")
	problem(c.LogFormat != "text" && c.LogFormat != "json", "LOG_FORMAT must be text or json")
	problem(c.DatabaseURL != "" && !strings.HasPrefix(c.DatabaseURL, "postgres://") && !strings.HasPrefix(c.DatabaseURL, "postgresql://"),
		"DATABASE_URL must start with postgres:// (or be empty for SQLite)")
	err = store.CheckRedisURL(c.RedisURL)
	problem(c.RedisURL != "" && err != nil, "%v", err)
	problem(c.DatabasePool < 2, "DATABASE_POOL must be at least 2")
	problem(c.PSP != "simulated", "PSP must be simulated: this release has no other provider")
	psp, err := url.Parse(c.PSPURL)
	problem(c.PSPURL != "" && (err != nil || psp.Host == ""), "PSP_URL must be an http:// or https:// address")
	for name, address := range map[string]string{"PSP_PUBLIC_URL": c.PSPPublicURL, "PSP_WEBHOOK_URL": c.PSPWebhookURL} {
		u, err := url.Parse(address)
		problem(address != "" && (err != nil || u.Host == ""), "%s must be an http:// or https:// address", name)
	}
	_, err = simulated.NewEventReader(c.WebhookSecret, time.Now)
	problem(err != nil, "WEBHOOK_SECRET: %v", err)
	for _, network := range c.TrustedProxies {
		_, _, err := net.ParseCIDR(network)
		problem(err != nil && net.ParseIP(network) == nil, "TRUSTED_PROXIES has an entry that is no network such as 10.0.0.0/8")
	}
	if !unparsed {
		for name, ttl := range map[string]time.Duration{"TTL_CONTACT": c.TTLContact, "TTL_ORDERS": c.TTLOrders, "TTL_PAYMENTS": c.TTLPayments} {
			problem(ttl <= c.RetryWindow, "%s (%s) must be longer than RETRY_WINDOW (%s): a retry that comes after the answer is forgotten could not be told from a new request", name, ttl, c.RetryWindow)
		}
		problem(c.OrderExpiry < c.TTLOrders, "ORDER_EXPIRY (%s) must not be shorter than TTL_ORDERS (%s): a checkout that is still open could not be paid any more", c.OrderExpiry, c.TTLOrders)
		problem(c.TTLPayments > 7*24*time.Hour || c.TTLOrders > 7*24*time.Hour || c.TTLContact > 7*24*time.Hour, "a TTL must be at most 168h: the key table has room for a week of days")
		for name, n := range map[string]int{"RATE_LIMIT": c.RateLimit, "RATE_LIMIT_ADDRESS": c.RateLimitAddress, "RATE_LIMIT_CONTACT": c.RateLimitContact, "MAX_LIVE_KEYS": c.MaxLiveKeys} {
			problem(n < 0, "%s must be 0 (no limit) or more", name)
		}
		problem(c.ShutdownTimeout <= 0, "SHUTDOWN_TIMEOUT must be more than 0s")
	}
	err = admin.CheckHash(c.AdminPasswordHash)
	problem(c.AdminPasswordHash != "" && err != nil, "ADMIN_PASSWORD_HASH: %v", err)
	problem(c.AdminUser == "", "ADMIN_USER must not be empty")
	_, err = c.consumers()
	problem(err != nil, "%v", err)
	return append(list, c.productionProblems()...)
}

func (c *Config) productionProblems() (list []string) {
	if c.Mode != "production" {
		return nil
	}
	if len(c.SessionSecret) < 32 {
		list = append(list, "SESSION_SECRET must have at least 32 characters in production")
	} else if c.SessionSecret == demoSecret {
		list = append(list, "SESSION_SECRET is the demo's, which everybody knows")
	}
	if slices.Contains(c.WebhookSecret, demoWebhookSecret) {
		list = append(list, "WEBHOOK_SECRET is the demo's, which everybody knows")
	}
	if c.PSPURL == "" {
		list = append(list, "PSP_URL must be set in production: the provider inside this process is for demos")
	}
	return list
}

// demo reports whether the demonstration's conveniences are on.
func (c *Config) demo() bool { return c.Mode == "demo" }

// consumers gives the API consumers to make at start.
func (c *Config) consumers() (map[string]string, error) {
	secrets := map[string]string{}
	if c.demo() {
		secrets["alpha"], secrets["beta"] = "demo-alpha", "demo-beta"
	}
	for part := range strings.SplitSeq(c.APIConsumers, ",") {
		if part == "" {
			continue
		}
		name, secret, ok := strings.Cut(part, "=")
		if !ok || name == "" || len(secret) < 32 {
			return nil, errors.New("API_CONSUMERS must be name=secret,... with secrets of at least 32 characters")
		}
		secrets[name] = secret
	}
	return secrets, nil
}
