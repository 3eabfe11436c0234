package jobs

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// loop is work that is looked for again and again while the queue works. A periodic job of River would
// leave a row every few seconds, and be done by one process at a time; this is for work whose own rows
// say what is due and let only one process have it.
type loop struct {
	pause time.Duration
	work  func(ctx context.Context) (more bool)
}

// Every has work done while the queue works: at its start, and a pause after every time that work found
// no more to do. It runs in every process that works on jobs, at most once at a time in each. Call
// Every before Start.
//
// Stop waits for the work under way, and ends its ctx when there is no more time.
func (q *Queue) Every(pause time.Duration, work func(ctx context.Context) (more bool)) {
	q.loops.list = append(q.loops.list, loop{pause, work})
}

// loops are what Every was told, and how to stop it.
type loops struct {
	list    []loop
	running sync.WaitGroup
	stop    chan struct{} // closed when no more may begin
	cancel  context.CancelFunc
}

func (l *loops) start(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	l.stop = make(chan struct{})
	for _, one := range l.list {
		l.running.Go(func() { one.run(ctx, l.stop) })
	}
}

// run pauses a little longer or shorter by chance, so that processes started together do not keep step.
func (l loop) run(ctx context.Context, stop <-chan struct{}) {
	for {
		pause := l.pause/2 + rand.N(l.pause)
		if l.work(ctx) {
			pause = 0
		}
		select {
		case <-stop: // also when there is more to do
			return
		default:
		}
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
}

// end lets no more work begin, and waits for what is under way. It ends that when ctx ends first.
func (l *loops) end(ctx context.Context) {
	if l.stop == nil {
		return
	}
	close(l.stop)
	l.stop = nil
	defer context.AfterFunc(ctx, l.cancel)()
	l.running.Wait()
	l.cancel()
}
