package chaos

import (
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// trouble is what a link does to what goes through it.
type trouble string

const (
	fine        trouble = ""
	delay       trouble = "delay"        // everything comes 50 to 150 ms later
	loseRequest trouble = "lose request" // what is on its way to the server is lost, and the connection hangs
	loseReply   trouble = "lose reply"   // the same on the way back: the server has done it
	cut         trouble = "cut"          // the connection breaks in the middle of a reply
	reset       trouble = "reset"        // all open connections break at once
	refuse      trouble = "refuse"       // all connections break, and new ones too
)

var troubles = []trouble{delay, loseRequest, loseReply, cut, reset, refuse}

// link is a TCP connection between two parts, of which it knows nothing. Where there are several
// targets, each connection goes to one of them.
type link struct {
	name    string
	addr    string
	targets []string

	mu    sync.Mutex
	now   trouble
	met   map[trouble]int // how often something met a trouble
	pairs map[*pair]bool
}

// pair is one connection through a link.
type pair struct {
	link           *link
	client, server *net.TCPConn
	once           sync.Once
}

func newLink(t *testing.T, name string, targets ...string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{name: name, addr: listener.Addr().String(), targets: targets, met: map[trouble]int{}, pairs: map[*pair]bool{}}
	t.Cleanup(func() { _ = listener.Close(); l.breakAll() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(conn.(*net.TCPConn))
		}
	}()
	return l
}

// longest is how long a trouble waits for something to meet it.
const longest = 2 * time.Second

// trouble makes trouble for a while, or for longer when nothing has met it yet, and counts what did.
func (l *link) trouble(what trouble, d time.Duration) (met int) {
	l.set(what)
	before := l.count(what)
	if what == refuse {
		l.breakAll()
	}
	for begin := time.Now(); time.Since(begin) < longest; time.Sleep(5 * time.Millisecond) {
		if what == reset && l.count(reset) == before {
			l.breakAll()
		}
		if l.count(what) > before && (what == reset || time.Since(begin) >= d) {
			break
		}
	}
	l.set(fine)
	return l.count(what) - before
}

func (l *link) set(what trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = what
}

func (l *link) count(what trouble) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.met[what]
}

// meets reports whether something on its way runs into the trouble. Half of everything does, except
// that all is delayed and all are refused.
func (l *link) meets(what trouble) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != what || (what != delay && what != refuse && rand.IntN(2) == 0) {
		return false
	}
	l.met[what]++
	return true
}

func (l *link) breakAll() {
	l.mu.Lock()
	pairs := l.pairs
	l.pairs = map[*pair]bool{}
	l.met[reset] += len(pairs)
	l.mu.Unlock()
	for p := range pairs {
		p.snap()
	}
}

func (l *link) serve(client *net.TCPConn) {
	if l.meets(refuse) {
		(&pair{link: l, client: client}).snap()
		return
	}
	target, err := net.DialTimeout("tcp", l.targets[rand.IntN(len(l.targets))], 2*time.Second)
	if err != nil {
		(&pair{link: l, client: client}).snap() // as the dead server itself would do
		return
	}
	p := &pair{link: l, client: client, server: target.(*net.TCPConn)}
	l.mu.Lock()
	l.pairs[p] = true
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.carry(p.client, p.server, loseRequest) })
	both.Go(func() { p.carry(p.server, p.client, loseReply) })
	both.Wait()
	p.end(func(*net.TCPConn) {})
}

// carry passes on what comes from one end to the other.
func (p *pair) carry(from, to *net.TCPConn, loses trouble) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		switch {
		case n > 0 && p.link.meets(loses):
			p.hang()
			return
		case n > 0 && loses == loseReply && p.link.meets(cut):
			_, _ = to.Write(buffer[:rand.IntN(n)])
			p.snap()
			return
		case n > 0 && p.link.meets(delay):
			time.Sleep(50*time.Millisecond + rand.N(100*time.Millisecond))
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				p.snap()
				return
			}
		}
		if err != nil {
			_ = to.CloseWrite() // the other direction may have something left
			return
		}
	}
}

// hang leaves both ends without news for a while: neither knows what the other has heard.
func (p *pair) hang() {
	time.Sleep(rand.N(2 * time.Second))
	p.snap()
}

// snap breaks the connection so that both ends notice.
func (p *pair) snap() { p.end(func(conn *net.TCPConn) { _ = conn.SetLinger(0) }) }

func (p *pair) end(how func(*net.TCPConn)) {
	p.once.Do(func() {
		p.link.mu.Lock()
		delete(p.link.pairs, p)
		p.link.mu.Unlock()
		for _, conn := range []*net.TCPConn{p.client, p.server} {
			if conn != nil {
				how(conn)
				_ = conn.Close()
			}
		}
	})
}
