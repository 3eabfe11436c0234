package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"

	"example.com/eenmaal/domain"
)

// Answers is a copy of finished answers in Redis. It is never asked who may run: an answer that is
// not there, or a Redis that is killed, flushed or frozen, costs a query and nothing else.
type Answers struct {
	client  redis.UniversalClient
	shop    string // begins every name, so that two shops cannot meet in one Redis
	breaker *gobreaker.CircuitBreaker[string]
	timeout time.Duration
	fill    chan copied   // never closed: a Put may come at any moment
	closing chan struct{} // closed by Close
	done    chan struct{} // closed when fillLoop has ended
	observe func(op string, took time.Duration)
	log     *slog.Logger
}

type copied struct {
	scope  domain.Scope
	print  domain.Fingerprint
	answer domain.Answer
	ttl    time.Duration
}

// The client would write a line of its own to standard error for every failed dial. What matters is
// logged here, when the breaker opens and closes.
func init() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Waits on Redis are short: past them the database is faster. After some failures in a row it is
// left alone for a moment, and then tried once.
const (
	redisTimeout    = 80 * time.Millisecond
	redisFailures   = 5
	clusterFailures = 15 // in a cluster: the keys of one node that is gone must not rest the others
	redisPause      = 2 * time.Second
	fillQueue       = 1024
	fillBatch       = 64
	fillPause       = 5 * time.Millisecond // lets a few answers gather for one round trip
)

// OpenAnswers connects to the Redis or the cluster of a URL (see redisOptions), for the shop whose
// database has this instance. It does not wait for an answer. A read_timeout in the URL replaces the
// usual wait for one.
//
// The client of one server never repeats a command by itself. That of a cluster repeats one once: where a
// node has told the way to another, or after an error of the network. Both honour deadlines while they
// wait for a reply.
func OpenAnswers(url, instance string, log *slog.Logger) (*Answers, error) {
	options, err := redisOptions(url)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a := &Answers{client: redis.NewUniversalClient(options), shop: "eenmaal:" + instance + ":", timeout: options.ReadTimeout, fill: make(chan copied, fillQueue),
		closing: make(chan struct{}), done: make(chan struct{}), log: log, observe: func(string, time.Duration) {}}
	failures := uint32(redisFailures)
	if options.IsClusterMode {
		failures = clusterFailures
	}
	a.breaker = gobreaker.NewCircuitBreaker[string](gobreaker.Settings{
		Name: "redis", Timeout: redisPause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
		IsSuccessful: func(err error) bool {
			return err == nil || errors.Is(err, redis.Nil)
		},
		OnStateChange: func(_ string, from, to gobreaker.State) {
			log.Warn("redis breaker", "from", from.String(), "to", to.String())
		},
	})
	go a.fillLoop()
	return a, nil
}

// Close copies what is still queued and disconnects. It is called once. A Put that comes during it or
// later is left out: a request that outlives the shutdown must not fail for its copy.
func (a *Answers) Close() error {
	close(a.closing)
	<-a.done
	return a.client.Close()
}

// BreakerState tells whether Redis is left alone: 0 no, 1 about to be asked again, 2 yes.
func (a *Answers) BreakerState() float64 { return float64(a.breaker.State()) }

// Observe has every use of Redis timed: "get" of one answer, "put" of a batch. It is called before the
// first of them.
func (a *Answers) Observe(observe func(op string, took time.Duration)) { a.observe = observe }

// timed measures one use of Redis: defer a.timed("get")().
func (a *Answers) timed(op string) func() {
	begin := time.Now()
	return func() { a.observe(op, time.Since(begin)) }
}

// Ping reports whether Redis answers.
func (a *Answers) Ping(ctx context.Context) error { return a.client.Ping(ctx).Err() }

// entry carries its own scope: a reply that belongs to another command is refused.
type entry struct {
	Key      string              `json:"k"`
	Consumer int64               `json:"c"`
	Endpoint int16               `json:"e"`
	Sum      []byte              `json:"f"`
	Fields   []byte              `json:"fs"`
	Status   int                 `json:"s"`
	Header   map[string][]string `json:"h"`
	Body     []byte              `json:"b"`
	Request  string              `json:"r"`
	At       int64               `json:"t"`
}

// Get gives the answer of a key, or false when it is not there or Redis is in trouble.
func (a *Answers) Get(ctx context.Context, s domain.Scope) (domain.Fingerprint, domain.Answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	text, err := a.breaker.Execute(func() (string, error) {
		defer a.timed("get")()
		return a.client.Get(ctx, a.name(s)).Result()
	})
	if err != nil {
		return domain.Fingerprint{}, domain.Answer{}, false
	}
	var e entry
	if json.Unmarshal([]byte(text), &e) != nil || e.Key != keyID(s) || e.Consumer != s.Consumer || e.Endpoint != s.Endpoint || e.At == 0 || len(e.Sum) != sha256.Size {
		a.log.Warn("refused a copied answer that is not this key's", "key", s.Key.Short())
		return domain.Fingerprint{}, domain.Answer{}, false
	}
	return domain.Fingerprint{Sum: [32]byte(e.Sum), Fields: e.Fields},
		domain.Answer{Status: e.Status, Header: e.Header, Body: e.Body, Request: e.Request, At: time.UnixMicro(e.At).UTC()}, true
}

// Put queues a finished answer to be copied, for as long as it is kept. It never waits: when the queue
// is full, the answer is left out.
func (a *Answers) Put(s domain.Scope, f domain.Fingerprint, answer domain.Answer, ttl time.Duration) {
	if ttl <= 0 {
		return // its time ended on the way; Redis would take this for "for ever"
	}
	select {
	case <-a.closing:
		return
	default:
	}
	select {
	case a.fill <- copied{s, f, answer, ttl}:
	default: // left out: its replays cost a query
	}
}

// fillLoop copies what was queued until Close, and then what is left.
func (a *Answers) fillLoop() {
	defer close(a.done)
	for {
		select {
		case first := <-a.fill:
			select {
			case <-time.After(fillPause):
			case <-a.closing:
			}
			a.copy(first)
		case <-a.closing:
			for len(a.fill) > 0 {
				a.copy(<-a.fill)
			}
			return
		}
	}
}

// copy sends an answer and others that wait behind it in one round trip. An error is for the breaker
// alone: what was not copied costs a query.
func (a *Answers) copy(first copied) {
	batch := []copied{first}
	for len(batch) < fillBatch && len(a.fill) > 0 {
		batch = append(batch, <-a.fill)
	}
	_, _ = a.breaker.Execute(func() (string, error) {
		defer a.timed("put")()
		ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
		defer cancel()
		_, err := a.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, c := range batch {
				p.Set(ctx, a.name(c.scope), c.text(), c.ttl)
			}
			return nil
		})
		return "", err
	})
}

// text is what is kept: marshalling it cannot fail, since it holds no more than text and numbers.
func (c copied) text() []byte {
	text, _ := json.Marshal(entry{keyID(c.scope), c.scope.Consumer, c.scope.Endpoint, c.print.Sum[:], c.print.Fields,
		c.answer.Status, c.answer.Header, c.answer.Body, c.answer.Request, c.answer.At.UnixMicro()})
	return text
}

// name keeps everything of one key in one slot of a cluster.
func (a *Answers) name(s domain.Scope) string {
	return fmt.Sprintf("%sanswer:{%s:%d:%d}", a.shop, keyID(s), s.Consumer, s.Endpoint)
}
