package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// The tests of the harness itself: a nemesis that does nothing would make every run look good.

// echo is a server that says what it hears, and remembers it.
func echo(t *testing.T) (addr string, heard func() string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	all := make(chan string, 16)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				buffer := make([]byte, 64<<10)
				n, _ := conn.Read(buffer)
				if n > 0 {
					all <- string(buffer[:n])
				}
				_, _ = conn.Write(buffer[:n])
			}()
		}
	}()
	return listener.Addr().String(), func() string {
		select {
		case text := <-all:
			return text
		default:
			return ""
		}
	}
}

func TestLinkMakesEveryTrouble(t *testing.T) {
	t.Parallel()
	const text = "a request of some length"
	for what, want := range map[trouble]struct{ heard, answered bool }{
		fine: {true, true}, delay: {true, true}, loseRequest: {false, false}, loseReply: {true, false}, cut: {true, false}, refuse: {false, false},
	} {
		t.Run(string(what), func(t *testing.T) {
			t.Parallel()
			addr, heard := echo(t)
			l := newLink(t, "test", addr)
			l.set(what)
			for try := 0; try == 0 || l.count(what) == 0 && try < 100; try++ { // half of everything gets through
				begin := time.Now()
				met := l.count(what)
				answer := ask(l.addr, text)
				got := struct{ heard, answered bool }{heard() == text, answer == text}
				if l.count(what) > met && got != want {
					t.Errorf("heard and answered are %v, want %v; the answer is %q", got, want, answer)
				}
				if what == delay && time.Since(begin) < 100*time.Millisecond {
					t.Errorf("there and back took %s", time.Since(begin))
				}
				if what == fine && got != want {
					t.Errorf("without trouble heard and answered are %v", got)
				}
			}
			if what != fine && l.count(what) == 0 {
				t.Error("nothing ever met the trouble")
			}
		})
	}
}

func ask(addr, text string) string {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return "" // refused so fast that it looks as if nobody were there
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, text)
	var answer bytes.Buffer
	_, _ = io.Copy(&answer, conn) // until it is closed, in whatever way
	return answer.String()
}

func TestResetBreaksWhatIsOpen(t *testing.T) {
	t.Parallel()
	addr, _ := echo(t)
	l := newLink(t, "test", addr)
	conn, err := net.Dial("tcp", l.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if met := l.trouble(reset, 5*time.Second); met != 1 {
		t.Errorf("%d connections were reset, want 1", met)
	}
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("reading gives %v, want a broken connection", err)
	}
}

func TestScheduleFollowsFromTheSeed(t *testing.T) {
	t.Parallel()
	of := func(seed uint64) string {
		s, names := newSchedule(seed, 3, time.Second, ofLinks("a", "b")), ""
		for range 3 * len(s.all) {
			one := s.next()
			names += fmt.Sprintln(one.name, one.pause, one.last)
		}
		return names
	}
	first, again := of(7), of(7)
	if first != again {
		t.Error("two schedules of one seed differ")
	}
	if first == of(8) {
		t.Error("two seeds give one schedule")
	}
	s, seen := newSchedule(1, 1, time.Second, ofReplicas(failpoints)), map[string]bool{}
	for range s.all {
		seen[s.next().name] = true
	}
	if len(seen) != len(s.all) {
		t.Errorf("a round has %d nemeses, want all %d", len(seen), len(s.all))
	}
}
