package store

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errRedisURL does not repeat the URL, which may hold a password.
var errRedisURL = errors.New("REDIS_URL cannot be parsed; it looks like redis://host:6379/0, or redis+cluster://host:6379,host:6379 for a cluster")

// CheckRedisURL gives the error that OpenAnswers would give for a URL.
func CheckRedisURL(address string) error {
	_, err := redisOptions(address)
	return err
}

// redisOptions reads a URL. redis:// and rediss:// are one server, with the number of a database as their
// path. A cluster has several addresses, with commas between them or as ?addr=host:port, of which any one
// that answers is enough, or redis+cluster:// and rediss+cluster:// with one or more; it has database 0
// alone.
func redisOptions(address string) (*redis.UniversalOptions, error) {
	address, isCluster, err := withoutCommas(address)
	if err != nil {
		return nil, errRedisURL
	}
	all, err := redis.ParseClusterURL(address)
	if err != nil {
		return nil, errRedisURL
	}
	o := &redis.UniversalOptions{Addrs: all.Addrs, Username: all.Username, Password: all.Password, TLSConfig: all.TLSConfig}
	o.IsClusterMode = isCluster || len(all.Addrs) > 1
	if o.DB, err = databaseOf(address, o.IsClusterMode); err != nil {
		return nil, errRedisURL
	}
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = -1, 1, true
	o.MaxRedirects = 1 // to the node that has the key now, when it has moved
	o.Protocol = 2     // version 3 looks for messages that we do not ask for, at every command
	timeout := cmp.Or(all.ReadTimeout, redisTimeout)
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
	return o, nil
}

var redisURL = regexp.MustCompile(`^(rediss?)(\+cluster)?://([^/?#]*@)?([^/?#,]*)((?:,[^/?#,]+)*)([/?#].*)?$`)

// withoutCommas writes a URL the way the library reads it, and tells whether its scheme says cluster.
func withoutCommas(address string) (plain string, isCluster bool, err error) {
	part := redisURL.FindStringSubmatch(address)
	if part == nil {
		return "", false, errRedisURL
	}
	scheme, cluster, user, first, others, rest := part[1], part[2], part[3], part[4], part[5], part[6]
	u, err := url.Parse(scheme + "://" + user + first + rest)
	if err != nil || others == "" {
		return scheme + "://" + user + first + rest, cluster != "", err
	}
	query := u.Query()
	for host := range strings.SplitSeq(others[1:], ",") {
		query.Add("addr", host)
	}
	u.RawQuery = query.Encode()
	return u.String(), cluster != "", nil
}

func databaseOf(address string, isCluster bool) (int, error) {
	if !isCluster {
		single, err := redis.ParseURL(address)
		if err != nil {
			return 0, err
		}
		return single.DB, nil
	}
	u, err := url.Parse(address)
	if err == nil && strings.Trim(u.Path, "/") != "" && u.Path != "/0" {
		err = errRedisURL
	}
	return 0, err
}
