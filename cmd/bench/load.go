package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// worker does one thing after another. An error ends the run: nothing that failed counts as fast.
type worker interface {
	do() error
	close()
}

// slice is what one contender did in one stretch of time.
type slice struct {
	ops      int
	elapsed  time.Duration
	times    histogram
	cpuStore time.Duration // Postgres and Redis
	cpuApp   time.Duration // the server under test, or this process when it is the client of a floor
}

func (s slice) perSecond() float64 { return float64(s.ops) / s.elapsed.Seconds() }
func (s slice) p50() float64       { return s.times.at(0.5).Seconds() }
func (s slice) cpuPerOp() float64 {
	return float64((s.cpuStore + s.cpuApp).Microseconds()) / float64(s.ops)
}

// drive lets c workers work for a time.
func drive(ctx context.Context, c int, d time.Duration, start func(i int) (worker, error)) (slice, error) {
	workers := make([]worker, c)
	for i := range workers {
		w, err := start(i)
		if err != nil {
			return slice{}, err
		}
		defer w.close()
		workers[i] = w
	}
	times, counts, errs := make([]histogram, c), make([]int, c), make([]error, c)
	began := time.Now()
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() { counts[i], errs[i] = repeat(ctx, w, began.Add(d), &times[i]) })
	}
	all.Wait()
	s := slice{elapsed: time.Since(began)}
	for i := range workers {
		s.ops += counts[i]
		s.times.merge(&times[i])
	}
	return s, errors.Join(errs...)
}

func repeat(ctx context.Context, w worker, end time.Time, times *histogram) (n int, err error) {
	for began := time.Now(); began.Before(end) && ctx.Err() == nil; n++ {
		if err := w.do(); err != nil {
			return n, err
		}
		now := time.Now()
		times.add(now.Sub(began))
		began = now
	}
	return n, ctx.Err()
}

// client is one connection that is kept alive. It writes prepared bytes and reads just as much of an
// answer as it has to, because the load shares the machine with what it measures.
type client struct {
	conn   net.Conn
	reader *bufio.Reader
	next   func() []byte // the bytes of the next request
	check  func(answer) error
}

// answer is what a client looks at. Body is valid until the next request.
type answer struct {
	status   int
	replayed bool
	body     []byte
}

func dial(ctx context.Context, address string, next func() []byte, check func(answer) error) (*client, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, reader: bufio.NewReaderSize(conn, 16<<10), next: next, check: check}, nil
}

func (c *client) close() { _ = c.conn.Close() }

func (c *client) do() error {
	got, err := c.exchange(c.next())
	if err != nil {
		return err
	}
	return c.check(got)
}

const exchangeTimeout = 30 * time.Second

func (c *client) exchange(request []byte) (answer, error) {
	_ = c.conn.SetDeadline(time.Now().Add(exchangeTimeout)) // fails only on a closed connection, as Write does
	if _, err := c.conn.Write(request); err != nil {
		return answer{}, err
	}
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return answer{}, err
	}
	if len(line) < 12 {
		return answer{}, fmt.Errorf("no HTTP answer: %q", line)
	}
	got := answer{}
	if got.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return answer{}, fmt.Errorf("no HTTP answer: %q", line)
	}
	length, err := c.readHeader(&got)
	if err != nil {
		return answer{}, err
	}
	got.body = make([]byte, length)
	_, err = io.ReadFull(c.reader, got.body)
	return got, err
}

func (c *client) readHeader(got *answer) (length int, err error) {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return length, nil
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
		got.replayed = got.replayed || bytes.Equal(line, []byte("Idempotent-Replayed: true"))
	}
}

// expect accepts one status, and as a replay or as a first answer.
func expect(status int, replayed bool) func(answer) error {
	return func(got answer) error {
		if got.status != status || got.replayed != replayed {
			return fmt.Errorf("got %d (replayed: %t), want %d (%t): %.300s", got.status, got.replayed, status, replayed, got.body)
		}
		return nil
	}
}

// contender is one side of a comparison.
type contender struct {
	name string
	run  func(d time.Duration) (slice, error)
}

// compare runs all contenders in every round, each time in another order, after one short slice that
// does not count.
func (b *bench) compare(contenders ...contender) (map[string][]slice, error) {
	results := map[string][]slice{}
	for round := range b.rounds + 1 {
		order := slices.Clone(contenders)
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, c := range order {
			length := b.slice
			if round == 0 {
				length /= 3
			}
			s, err := c.run(length)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				results[c.name] = append(results[c.name], s)
			}
		}
	}
	return results, nil
}

// measure drives workers and notes the CPU time of the services and of one process more.
func (b *bench) measure(pid, c int, d time.Duration, start func(i int) (worker, error)) (slice, error) {
	stores := append(b.services.postgres.PIDs(), b.services.redis.PIDs()...)
	storesBefore, appBefore := cpuOf(stores...), cpuOf(pid)
	s, err := drive(b.ctx, c, d, start)
	s.cpuApp = cpuOf(pid) - appBefore // first, as looking for the others costs this process time
	stores = append(b.services.postgres.PIDs(), b.services.redis.PIDs()...)
	s.cpuStore = cpuOf(stores...) - storesBefore
	return s, err
}
