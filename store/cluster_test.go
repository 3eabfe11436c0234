package store_test

import (
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// patient clients do not take a busy machine for a broken Redis.
const patient = "?read_timeout=20s"

func put(t *testing.T, a *store.Answers, scopes []domain.Scope) {
	t.Helper()
	for _, s := range scopes {
		a.Put(s, domain.Fingerprint{}, domain.Answer{Status: 201, Body: []byte(s.Key.String()), At: time.Now()}, time.Hour)
	}
}

// found counts the keys whose own answer is there; any other is a failure.
func found(t *testing.T, a *store.Answers, scopes []domain.Scope) (n int) {
	t.Helper()
	for _, s := range scopes {
		_, answer, ok := a.Get(t.Context(), s)
		if ok && string(answer.Body) != s.Key.String() {
			t.Errorf("%v has the answer of %s", s, answer.Body)
		}
		if ok {
			n++
		}
	}
	return n
}

func scopes(t *testing.T, n int) (list []domain.Scope) {
	t.Helper()
	for range n {
		list = append(list, scope(t))
	}
	return list
}

// TestAClusterKeepsAnswersAndCountsAsOneServerDoes: from one known address a batch of answers reaches all
// servers, and a bucket is one for all replicas.
func TestAClusterKeepsAnswersAndCountsAsOneServerDoes(t *testing.T) {
	t.Parallel()
	seed := "redis+cluster" + strings.TrimPrefix(storetest.OwnRedisCluster(t).Nodes[1].URL, "redis") + patient
	a, keys := openAnswers(t, seed), scopes(t, 100)
	put(t, a, keys)
	must(t, a.Close()) // copies what is queued
	b, c := openAnswers(t, seed), openAnswers(t, seed)
	defer func() { _, _ = b.Close(), c.Close() }()
	if n := found(t, b, keys); n != len(keys) {
		t.Errorf("%d of %d answers are there", n, len(keys))
	}
	through := 0
	for i := range 20 {
		got, _, err := []*store.Answers{b, c}[i%2].Buckets().Take(t.Context(), "x", 10, 1)
		must(t, err)
		through += got
	}
	if through < 10 || through > 12 { // one comes back every six seconds
		t.Errorf("%d got a token of 10", through)
	}
}

// TestAServerOfAClusterThatIsGoneCostsItsOwnAnswersAlone, and only until it is back.
func TestAServerOfAClusterThatIsGoneCostsItsOwnAnswersAlone(t *testing.T) {
	t.Parallel()
	cluster := storetest.OwnRedisCluster(t)
	a, keys := openAnswers(t, cluster.URL+patient), scopes(t, 90)
	defer func() { _ = a.Close() }()
	put(t, a, keys)
	eventually(t, func() bool { return found(t, a, keys) == len(keys) })
	cluster.Nodes[2].Kill()
	eventually(t, func() bool {
		n := found(t, a, keys)
		return n > 40 && n < 80
	})
	must(t, cluster.Nodes[2].Restart())
	eventually(t, func() bool {
		put(t, a, keys)
		return found(t, a, keys) == len(keys)
	})
}

// TestTwoShopsDoNotMeetInOneRedis: not even with the same key of the same consumer at the same endpoint.
func TestTwoShopsDoNotMeetInOneRedis(t *testing.T) {
	t.Parallel()
	url := storetest.RedisURL(t)
	open := func(db *store.DB) *store.Answers {
		a, err := store.OpenAnswers(url, db.Instance(), nil)
		must(t, err)
		return a
	}
	one := storetest.Database{Dir: t.TempDir()}
	first, second := one.Open(t, nil), storetest.Database{Dir: t.TempDir()}.Open(t, nil)
	again := one.Open(t, nil)
	if len(first.Instance()) < 32 || first.Instance() == second.Instance() || first.Instance() != again.Instance() {
		t.Fatalf("two databases and the first again are %s, %s, %s", first.Instance(), second.Instance(), again.Instance())
	}
	a, key := open(first), scopes(t, 1)
	put(t, a, key)
	must(t, a.Close())
	b, c := open(second), open(again)
	defer func() { _, _ = b.Close(), c.Close() }()
	if found(t, b, key) != 0 || found(t, c, key) != 1 {
		t.Error("the answer is the other shop's, or not the same shop's")
	}
	for _, limited := range []*store.Answers{b, c} {
		if got, _, err := limited.Buckets().Take(t.Context(), key[0].Key.String(), 1, 1); err != nil || got != 1 {
			t.Errorf("a shop's bucket gives %d, %v: want its own", got, err)
		}
	}
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within 30 s")
		}
	}
}
