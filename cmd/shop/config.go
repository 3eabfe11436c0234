package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
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
	BaseURL string `env:"BASE_URL" desc:"where people reach the shop, for links in mails; from ADDR when empty, which production refuses. https:// makes cookies Secure"`
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
	AdminPasswordHash string `env:"ADMIN_PASSWORD_HASH" desc:"hash of the desk's password, as shop password prints it, in single quotes in a shell; empty: in demo mode anybody signs in with one click, in production there is no desk"`

	TrustedProxies []string `env:"TRUSTED_PROXIES" desc:"networks whose X-Forwarded-For is believed; empty: none"`

	RateLimit        int `env:"RATE_LIMIT" envDefault:"6000" desc:"new runs a minute of one API consumer, all at once or spread; replays and reads twenty times as many; 0: no limit"`
	RateLimitAddress int `env:"RATE_LIMIT_ADDRESS" envDefault:"1200" desc:"changes on pages and look-ups of API keys a minute from one address, and as many events with a wrong signature; 0: no limit"`
	RateLimitContact int `env:"RATE_LIMIT_CONTACT" envDefault:"300" desc:"new contact messages a minute from one address; 0: no limit"`
	MaxLiveKeys      int `env:"MAX_LIVE_KEYS" envDefault:"100000" desc:"kept answers of one API consumer; past it new keys are refused until some expire; 0: no limit"`

	KeyJournal bool `env:"KEY_JOURNAL" envDefault:"true" desc:"keep what happens with each key for 7 days, for the order's timeline and the staff; never needed: lines may be lost"`

	DrainDelay      time.Duration `env:"DRAIN_DELAY" envDefault:"0s" desc:"how long to answer not-ready before no longer accepting; give a load balancer 3s"`
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"15s" desc:"how long running requests and jobs may take to end"`
	LogFormat       string        `env:"LOG_FORMAT" envDefault:"text" desc:"text or json"`

	baseUnset bool // BASE_URL was made from ADDR
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

// LoadConfig reads the environment, or that of the process when it is nil, and checks all of it.
func LoadConfig(environment map[string]string) (Config, error) {
	if environment == nil {
		environment = env.ToMap(os.Environ())
	}
	environment = maps.Clone(environment)
	cfg, err := env.ParseAsWithOptions[Config](env.Options{Environment: environment})
	unread, problems := parseProblems(err)
	if len(unread) > 0 { // with the defaults in their place all the rest can be checked
		for _, name := range unread {
			delete(environment, name)
		}
		cfg, err = env.ParseAsWithOptions[Config](env.Options{Environment: environment})
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	cfg.fillIn()
	for _, problem := range cfg.problems() {
		if !slices.ContainsFunc(strings.Fields(problem), func(word string) bool { return slices.Contains(unread, word) }) {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		return cfg, &ConfigError{problems}
	}
	return cfg, nil
}

// parseProblems gives the settings that could not be read, and what to say about them.
func parseProblems(err error) (unread, problems []string) {
	all, ok := errors.AsType[env.AggregateError](err)
	if !ok && err != nil {
		return nil, []string{err.Error()}
	}
	for _, one := range all.Errors {
		bad, _ := errors.AsType[env.ParseError](one)
		i := slices.IndexFunc(fieldsOfConfig(), func(f setting) bool { return f.GoName == bad.Name })
		if i < 0 {
			problems = append(problems, one.Error())
			continue
		}
		f := fieldsOfConfig()[i]
		unread, problems = append(unread, f.Name), append(problems, f.Name+" must be "+f.Kind)
	}
	return unread, problems
}

func (c *Config) fillIn() {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	if c.baseUnset = c.BaseURL == ""; c.baseUnset {
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

// problems checks what the types do not.
func (c *Config) problems() []string {
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
	if len(c.WebhookSecret) > 0 {
		_, err = simulated.NewEventReader(c.WebhookSecret, time.Now)
		problem(err != nil, "WEBHOOK_SECRET: %v", err)
	}
	_, err = newMailer(*c)
	problem(err != nil, "%v", err)
	for _, network := range c.TrustedProxies {
		_, _, err := net.ParseCIDR(network)
		problem(err != nil && net.ParseIP(network) == nil, "TRUSTED_PROXIES has an entry that is no network such as 10.0.0.0/8")
	}
	for name, ttl := range map[string]time.Duration{"TTL_CONTACT": c.TTLContact, "TTL_ORDERS": c.TTLOrders, "TTL_PAYMENTS": c.TTLPayments} {
		problem(ttl <= c.RetryWindow, "%s (%s) must be longer than RETRY_WINDOW (%s): a retry that comes after the answer is forgotten could not be told from a new request", name, ttl, c.RetryWindow)
	}
	problem(c.OrderExpiry < c.TTLOrders, "ORDER_EXPIRY (%s) must not be shorter than TTL_ORDERS (%s): a checkout that is still open could not be paid any more", c.OrderExpiry, c.TTLOrders)
	problem(c.TTLPayments > 7*24*time.Hour || c.TTLOrders > 7*24*time.Hour || c.TTLContact > 7*24*time.Hour, "a TTL must be at most 168h: the key table has room for a week of days")
	for name, n := range map[string]int{"RATE_LIMIT": c.RateLimit, "RATE_LIMIT_ADDRESS": c.RateLimitAddress, "RATE_LIMIT_CONTACT": c.RateLimitContact, "MAX_LIVE_KEYS": c.MaxLiveKeys} {
		problem(n < 0, "%s must be 0 (no limit) or more", name)
	}
	problem(c.ShutdownTimeout <= 0, "SHUTDOWN_TIMEOUT must be more than 0s")
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
		list = append(list, "SESSION_SECRET must have at least 32 characters in production: openssl rand -hex 32 makes one")
	} else if c.SessionSecret == demoSecret {
		list = append(list, "SESSION_SECRET is the demo's, which everybody knows")
	}
	if len(c.WebhookSecret) == 0 {
		list = append(list, "WEBHOOK_SECRET must be set in production: echo whsec_$(openssl rand -base64 32) makes one")
	} else if slices.Contains(c.WebhookSecret, demoWebhookSecret) {
		list = append(list, "WEBHOOK_SECRET is the demo's, which everybody knows")
	}
	if c.baseUnset {
		list = append(list, "BASE_URL must be set in production, such as https://shop.example.nl: it is in the links of mails")
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
