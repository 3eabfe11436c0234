package store

import (
	"slices"
	"testing"
)

func TestAURLOfRedisIsOneServerOrACluster(t *testing.T) {
	t.Parallel()
	type want struct {
		cluster bool
		addrs   []string
		db      int
		tls     bool
	}
	for url, w := range map[string]want{
		"redis://a":                                {addrs: []string{"a:6379"}},
		"redis://a:1/3":                            {addrs: []string{"a:1"}, db: 3},
		"rediss://a:1/0":                           {addrs: []string{"a:1"}, tls: true},
		"redis://a:1,b:2":                          {cluster: true, addrs: []string{"a:1", "b:2"}},
		"redis://u:p%40,w@a:1,b:2,c:3/0":           {cluster: true, addrs: []string{"a:1", "b:2", "c:3"}},
		"redis://a:1?addr=b:2&addr=c:3":            {cluster: true, addrs: []string{"a:1", "b:2", "c:3"}},
		"redis+cluster://a:1":                      {cluster: true, addrs: []string{"a:1"}},
		"rediss+cluster://u:p@a:1,b:2?addr=[::]:3": {cluster: true, addrs: []string{"a:1", "b:2", "[::]:3"}, tls: true},
	} {
		o, err := redisOptions(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		slices.Sort(o.Addrs)
		slices.Sort(w.addrs)
		if got := (want{o.IsClusterMode, o.Addrs, o.DB, o.TLSConfig != nil}); got.cluster != w.cluster || !slices.Equal(got.addrs, w.addrs) || got.db != w.db || got.tls != w.tls {
			t.Errorf("%s is read as %+v, want %+v", url, got, w)
		}
		if o.ReadTimeout != redisTimeout || o.MaxRetries != -1 || !o.ContextTimeoutEnabled {
			t.Errorf("%s changes how long to wait: %+v", url, o)
		}
	}
}

func TestAURLOfRedisHasACredentialAndMayHaveAnotherWait(t *testing.T) {
	t.Parallel()
	o, err := redisOptions("redis://u:p%40,w@a:1,b:2?read_timeout=2s")
	if err != nil || o.Username != "u" || o.Password != "p@,w" || o.ReadTimeout.Seconds() != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
}
