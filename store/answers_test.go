package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

func openAnswers(t testing.TB, url string) *store.Answers {
	t.Helper()
	a, err := store.OpenAnswers(url, "test", nil)
	must(t, err)
	return a
}

func TestAnAnswerIsCopiedWithItsScopeAndNoOtherFindsIt(t *testing.T) {
	t.Parallel()
	a := openAnswers(t, storetest.RedisURL(t))
	s, print := scope(t), domain.Fingerprint{Sum: [32]byte{1, 2}, Fields: []byte{3}}
	want := domain.Answer{Status: 201, Header: map[string][]string{"Location": {"/x"}}, Body: []byte("a\x00\xff"), Request: "r", At: time.Now().UTC().Truncate(time.Microsecond)}
	a.Put(s, print, want, time.Hour)
	must(t, a.Close()) // copies what is queued

	b := openAnswers(t, storetest.RedisURL(t))
	defer func() { _ = b.Close() }()
	gotPrint, got, ok := b.Get(t.Context(), s)
	if !ok || gotPrint.Sum != print.Sum || string(gotPrint.Fields) != "\x03" || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v %+v, want %+v", ok, got, want)
	}
	for _, other := range []domain.Scope{{Key: s.Key, Consumer: s.Consumer + 1, Endpoint: s.Endpoint},
		{Key: s.Key, Consumer: s.Consumer, Endpoint: s.Endpoint + 1}, scope(t)} {
		if _, _, ok := b.Get(t.Context(), other); ok {
			t.Errorf("%v finds the answer of %v", other, s)
		}
	}
}

// TestAnAnswerWhoseTimeIsOverIsNotCopied: Redis would keep it for ever.
func TestAnAnswerWhoseTimeIsOverIsNotCopied(t *testing.T) {
	t.Parallel()
	a := openAnswers(t, storetest.RedisURL(t))
	over := []domain.Scope{scope(t), scope(t), scope(t)}
	for i, ttl := range []time.Duration{0, -1, -time.Hour} {
		a.Put(over[i], domain.Fingerprint{}, domain.Answer{Status: 201, At: time.Now()}, ttl)
	}
	last := scope(t)
	a.Put(last, domain.Fingerprint{}, domain.Answer{Status: 201, At: time.Now()}, time.Second)
	must(t, a.Close()) // copies what is queued
	b := openAnswers(t, storetest.RedisURL(t))
	defer func() { _ = b.Close() }()
	for i, s := range over {
		if _, _, ok := b.Get(t.Context(), s); ok {
			t.Errorf("answer %d was copied", i)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, _, ok := b.Get(t.Context(), last); !ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a copy for one second is still there")
		}
	}
}

// TestAnAnswerMayComeWhileTheCopyCloses: a request that outlives the shutdown must not fail for it.
func TestAnAnswerMayComeWhileTheCopyCloses(t *testing.T) {
	t.Parallel()
	a := openAnswers(t, "redis://127.0.0.1:1/0") // nobody there; it must not matter
	var all sync.WaitGroup
	started := make(chan struct{}, 8)
	for range cap(started) {
		all.Go(func() {
			started <- struct{}{}
			for range 500 {
				a.Put(scope(t), domain.Fingerprint{}, domain.Answer{At: time.Now()}, time.Hour)
			}
		})
	}
	for range cap(started) {
		<-started
	}
	must(t, a.Close())
	all.Wait()
	a.Put(scope(t), domain.Fingerprint{}, domain.Answer{At: time.Now()}, time.Hour)
}

// TestARedisThatDoesNotAnswerIsLeftAlone covers T45's other half: the wait is short, and after some
// failures there is none.
func TestARedisThatDoesNotAnswerIsLeftAlone(t *testing.T) {
	t.Parallel()
	server := storetest.OwnRedis(t)
	a := openAnswers(t, server.URL)
	defer func() { _ = a.Close() }()
	must(t, a.Ping(t.Context()))
	server.Freeze()
	for range 6 {
		if _, _, ok := a.Get(t.Context(), scope(t)); ok {
			t.Fatal("a frozen Redis answered")
		}
	}
	began := time.Now()
	for range 1000 {
		a.Get(t.Context(), scope(t))
	}
	// A thousand waits would take 80 s; the breaker makes none, but for one probe every two seconds.
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a thousand reads of a broken Redis took %s", took)
	}
	if got := a.BreakerState(); got == 0 {
		t.Error("the breaker says that Redis is asked as ever")
	}
	server.Thaw()
	for i := 0; ; i++ {
		s := scope(t)
		a.Put(s, domain.Fingerprint{}, domain.Answer{Status: 201, At: time.Now()}, time.Hour)
		time.Sleep(100 * time.Millisecond)
		if _, _, ok := a.Get(t.Context(), s); ok {
			if got := a.BreakerState(); got != 0 {
				t.Errorf("Redis is asked again, and the breaker's state is %v", got)
			}
			return
		}
		if i == 200 {
			t.Fatal("Redis is back, and its copy is still left alone")
		}
	}
}

func TestAnAddressOfRedisThatCannotBeParsedIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "http://:secret@host", "redis://:secret@host:port/x", "redis://:secret@host/notanumber",
		"redis://:secret@a:1,b", "redis://:secret@a:1,b:2/1", "redis+cluster://:secret@a:1/1", "redis://:secret@a:1,,b:2", "cluster://:secret@a:1", "redis://:secret@a:1?addr=b"} {
		_, err := store.OpenAnswers(url, "test", nil)
		if err == nil || !strings.HasPrefix(err.Error(), "REDIS_URL cannot be parsed; it looks like redis://host:6379/0") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v", url, err)
		}
	}
}
