package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// redisCluster is three servers of Redis, each with a third of the keys and none with a copy of another's.
type redisCluster []*redisNode

type redisNode struct {
	dir, addr string
	client    *redis.Client // to this server alone
	cmd       *exec.Cmd
}

// busOffset is how far above its port a server of a cluster listens for the others.
const busOffset = 10000

func newRedisCluster(t *testing.T) redisCluster {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if everything {
			t.Fatal(err)
		}
		t.Skip("NOT TESTED: redis-server is not installed")
	}
	cluster := make(redisCluster, 3)
	for i := range cluster {
		addr := clusterAddress()
		cluster[i] = &redisNode{dir: t.TempDir(), addr: addr, client: redis.NewClient(&redis.Options{Addr: addr, Protocol: 2})}
		t.Cleanup(func() { _ = cluster[i].client.Close() })
	}
	for i, node := range cluster {
		// What a server of a formed cluster remembers: with it they find each other by themselves.
		if err := os.WriteFile(filepath.Join(node.dir, "nodes.conf"), []byte(cluster.remembered(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		node.start(t)
	}
	cluster.await(t)
	return cluster
}

// clusterAddress is one whose bus, too, is below the ports that systems give to outgoing connections.
func clusterAddress() string {
	for {
		addr := freeAddress()
		_, port, _ := net.SplitHostPort(addr)
		if n, _ := strconv.Atoi(port); n+busOffset < 32768 {
			return addr
		}
	}
}

func (c redisCluster) remembered(me int) string {
	const slots = 16384
	var b strings.Builder
	for i, node := range c {
		_, port, _ := net.SplitHostPort(node.addr)
		bus, _ := strconv.Atoi(port)
		flags := "master"
		if i == me {
			flags = "myself,master"
		}
		fmt.Fprintf(&b, "%040x %s@%d %s - 0 0 %d connected %d-%d\n", i+1, node.addr, bus+busOffset, flags, i+1, i*slots/len(c), (i+1)*slots/len(c)-1)
	}
	fmt.Fprintf(&b, "vars currentEpoch %d lastVoteEpoch 0\n", len(c))
	return b.String()
}

func (c redisCluster) url() string {
	var addrs []string
	for _, node := range c {
		addrs = append(addrs, node.addr)
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// await returns when every server knows of all others.
func (c redisCluster) await(t *testing.T) {
	t.Helper()
	for _, node := range c {
		eventually(t, patience, func() string { return node.addr + " is in the cluster" }, func() bool {
			info, err := node.client.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok")
		})
	}
}

// flush empties all servers and gives how many keys each had.
func (c redisCluster) flush(t *testing.T) (had []int64) {
	t.Helper()
	for _, node := range c {
		n, err := node.client.DBSize(t.Context()).Result()
		if err == nil {
			err = node.client.FlushAll(t.Context()).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		had = append(had, n)
	}
	return had
}

// start starts the server, for the first time or again; it has forgotten all but the cluster.
func (n *redisNode) start(t *testing.T) {
	t.Helper()
	_, port, _ := net.SplitHostPort(n.addr)
	n.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", n.dir, "--save", "", "--logfile", "log",
		"--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "5000")
	dieWithUs(n.cmd)
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.kill)
	eventually(t, patience, func() string { return "redis-server answers at " + n.addr }, func() bool { return n.client.Ping(t.Context()).Err() == nil })
}

// kill ends the server as kill -9 does; it may have ended.
func (n *redisNode) kill() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}
