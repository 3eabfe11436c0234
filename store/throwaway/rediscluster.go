package throwaway

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cluster is a Redis Cluster of three servers, each with a third of the keys
// and none with a copy of another's. Each can be killed and started again.
type Cluster struct {
	URL   string // of all three
	Nodes []*Server
}

// Stop ends all servers and removes their files.
func (c *Cluster) Stop() {
	for _, s := range c.Nodes {
		s.Stop()
	}
}

// RedisCluster starts an empty cluster. A part of it that is down leaves the
// rest working.
func RedisCluster(dir string, o Options) (*Cluster, error) {
	var errs error
	for range 3 { // as in startOnFreePort
		c, err := startCluster(dir, o)
		if err == nil || errors.Is(err, ErrNotInstalled) {
			return c, err
		}
		errs = err
	}
	return nil, errs
}

const clusterNodes = 3

func startCluster(dir string, o Options) (c *Cluster, err error) {
	c = &Cluster{}
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	ports, err := portsWithBus(clusterNodes)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for i, port := range ports {
		s, command, err := newRedis(dir, o)
		if err != nil {
			return nil, err
		}
		c.Nodes = append(c.Nodes, s)
		s.onPort(port, append(command, "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "5000"))
		if err := os.WriteFile(filepath.Join(s.dir, "nodes.conf"), []byte(nodesOf(ports, i)), 0o600); err != nil {
			return nil, err
		}
		if err := s.start(); err != nil {
			return nil, err
		}
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	c.URL = "redis+cluster://" + strings.Join(addresses, ",")
	return c, c.await()
}

// nodesOf is what a server of a formed cluster remembers of it in its file
// nodes.conf. With it the servers find each other by themselves.
func nodesOf(ports []int, me int) string {
	const slots = 16384
	var b strings.Builder
	for i, port := range ports {
		flags := "master"
		if i == me {
			flags = "myself,master"
		}
		fmt.Fprintf(&b, "%040x 127.0.0.1:%d@%d %s - 0 0 %d connected %d-%d\n",
			i+1, port, port+busOffset, flags, i+1, i*slots/len(ports), (i+1)*slots/len(ports)-1)
	}
	fmt.Fprintf(&b, "vars currentEpoch %d lastVoteEpoch 0\n", len(ports))
	return b.String()
}

// await returns when every server has heard of all others.
func (c *Cluster) await() error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		joined := 0
		for _, s := range c.Nodes {
			info := askRedis(s.Port, "CLUSTER INFO", "CLUSTER NODES")
			if strings.Contains(info, "cluster_state:ok") && strings.Count(info, " connected ") == clusterNodes {
				joined++
			}
		}
		if joined == clusterNodes {
			return nil
		}
	}
	return fmt.Errorf("start redis: no cluster after %s: %s", startTimeout, c.Nodes[0].logTail())
}

// busOffset is how far above its port a server listens for the others.
const busOffset = 10000

// portsWithBus picks ports that are free together with those of their buses.
// Both are below the range of client ports, for the reason in freePort.
func portsWithBus(n int) (ports []int, err error) {
	for range 1000 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		if port >= 12000+busOffset || slices.Contains(ports, port) {
			continue
		}
		//nolint:noctx // binding a loopback port does not wait
		bus, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+busOffset))
		if err != nil {
			continue
		}
		_ = bus.Close()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free ports for a cluster")
}
