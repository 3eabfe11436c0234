package idempotent

import (
	"container/list"
	"sync"

	"example.com/eenmaal/domain"
)

// answerCache keeps the answers that were finished or replayed last, up to a number of bytes. A
// finished answer never changes, so what is in here is right.
type answerCache struct {
	mu    sync.Mutex
	max   int
	size  int
	order *list.List // front: used last
	byID  map[flightID]*list.Element
}

type cachedAnswer struct {
	id          flightID
	fingerprint domain.Fingerprint
	answer      domain.Answer
}

// entryOverhead is what an entry costs beside its answer's bytes: map, list, header.
const entryOverhead = 600

func newAnswerCache(maxBytes int) *answerCache {
	return &answerCache{max: maxBytes, order: list.New(), byID: map[flightID]*list.Element{}}
}

func (c *answerCache) get(s domain.Scope) (cachedAnswer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[idOf(s)]
	if !ok {
		return cachedAnswer{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cachedAnswer), true
}

func (c *answerCache) put(s domain.Scope, f domain.Fingerprint, a domain.Answer) {
	entry := cachedAnswer{idOf(s), f, a}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byID[entry.id]; ok || len(a.Body)+entryOverhead > c.max {
		return
	}
	c.byID[entry.id] = c.order.PushFront(entry)
	c.size += len(a.Body) + entryOverhead
	for c.size > c.max {
		oldest := c.order.Back()
		gone := c.order.Remove(oldest).(cachedAnswer)
		delete(c.byID, gone.id)
		c.size -= len(gone.answer.Body) + entryOverhead
	}
}

func (c *answerCache) drop(s domain.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[idOf(s)]; ok {
		gone := c.order.Remove(e).(cachedAnswer)
		delete(c.byID, gone.id)
		c.size -= len(gone.answer.Body) + entryOverhead
	}
}
