package web_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
)

// tales is a journal that tells what a test says.
type tales struct {
	timeline domain.KeyTimeline
	fails    error
	asked    string // the order that was asked for last
}

func (f *tales) OrderTimeline(_ context.Context, orderID string) (domain.KeyTimeline, error) {
	f.asked = orderID
	return f.timeline, f.fails
}

func withTales(f *tales) func(*web.Config) { return func(c *web.Config) { c.Timelines = f } }

// told makes events that happened one after the other, of one key.
func told(start time.Time, kinds ...domain.KeyEventKind) (events []domain.KeyEvent) {
	for i, kind := range kinds {
		events = append(events, domain.KeyEvent{Kind: kind, At: start.Add(time.Duration(i) * time.Second), Times: 1, Attempt: 1,
			Endpoint: "POST /v1/orders", Request: "01a22c73-8af0-75c2-8076-c03278e2791b", Process: "shop/1"})
	}
	return events
}

func TestAnOrderTellsHowOftenItWasSent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ prefix, title, more string }{
		{"", "What your browser did", "Nothing was done twice"}, {"/nl", "Wat je browser deed", "Niets is dubbel gedaan"},
	} {
		f := &tales{}
		b := setup(t, withTales(f))
		b.review(tt.prefix, "tok_ok")
		b.pay()
		if b.last.has("sent-panel") {
			t.Error("a panel without anything known")
		}
		f.timeline = domain.KeyTimeline{Requests: 3, Events: told(b.now, domain.KeyClaimed, domain.KeyFinished, domain.KeyReplayed)}
		f.timeline.Events[2].Detail, f.timeline.Events[2].Times = "memory", 2
		order := tt.prefix + "/orders/EM-7K4Q-1M?t=token1"
		b.get(order)
		for id, want := range map[string]string{"sent-times": "3", "sent-orders": "1", "sent-charges": "1", "sent-mails": "1"} {
			if !strings.Contains(b.last.body, `data-testid="`+id+`">`+want+`<`) {
				t.Errorf("%s is not %s", id, want)
			}
		}
		if !strings.Contains(b.last.body, tt.title) || f.asked != "o1" {
			t.Errorf("the panel is called otherwise, or is about %s", f.asked)
		}
		b.get(tt.prefix + "/orders/EM-7K4Q-1M/timeline?t=token1")
		b.want(200, tt.prefix+"/orders/EM-7K4Q-1M/timeline?t=token1", "timeline", "event-claimed", "event-finished", "event-replayed", "timeline-back")
		if b.last.has("timeline-live") || strings.Contains(b.last.body, `http-equiv="refresh"`) || !strings.Contains(b.last.body, tt.more) ||
			!strings.Contains(b.last.body, order) || b.last.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the timeline of what has ended: %s", b.last.body)
		}
	}
}

// TestATimelineOfWhatRunsIsDrawnAnew, with scripts and without, and not for ever: the end may be lost.
func TestATimelineOfWhatRunsIsDrawnAnew(t *testing.T) {
	t.Parallel()
	f := &tales{}
	b := setup(t, withTales(f))
	b.review("", "tok_ok")
	b.pay()
	for _, tt := range []struct {
		events []domain.KeyEvent
		lives  bool
	}{
		{told(b.now.Add(-time.Second), domain.KeyClaimed, domain.KeyCalling), true},
		{told(b.now.Add(-time.Minute), domain.KeyClaimed, domain.KeyStopped, domain.KeyTakenOver), true},
		{told(b.now.Add(-time.Minute), domain.KeyClaimed, domain.KeyStopped, domain.KeyResumed, domain.KeyFinished), false},
		{told(b.now.Add(-time.Hour), domain.KeyClaimed), false},
		{nil, false},
	} {
		f.timeline.Events = tt.events
		page := b.get("/orders/EM-7K4Q-1M/timeline?t=token1")
		if page.has("timeline-live") != tt.lives || strings.Contains(page.body, "data-live") != tt.lives || strings.Contains(page.body, `http-equiv="refresh"`) != tt.lives {
			t.Errorf("%d events: lives %v", len(tt.events), !tt.lives)
		}
	}
	if !b.last.has("timeline-empty") {
		t.Error("an empty timeline says nothing")
	}
}

// TestATimelineIsForWhoHasTheOrdersToken, and for the demo.
func TestATimelineIsForWhoHasTheOrdersToken(t *testing.T) {
	t.Parallel()
	f := &tales{}
	b := setup(t, withTales(f))
	b.review("", "tok_ok")
	b.pay()
	for _, path := range []string{"/orders/EM-7K4Q-1M/timeline", "/orders/EM-7K4Q-1M/timeline?t=token2", "/orders/EM-0000-00/timeline?t=token1", "/nl/orders/EM-7K4Q-1M/timeline?t="} {
		if got := b.get(path); got.status != 404 {
			t.Errorf("%s gave %d", path, got.status)
		}
	}
	for name, change := range map[string]func(*web.Config){"production": func(c *web.Config) { c.Demo, c.Timelines = false, f }, "no journal": func(*web.Config) {}} {
		b := setup(t, change)
		b.review("", "tok_ok")
		b.pay()
		f.timeline = domain.KeyTimeline{Requests: 3}
		if order := b.get("/orders/EM-7K4Q-1M?t=token1"); order.status != 200 || order.has("sent-panel") || b.get("/orders/EM-7K4Q-1M/timeline?t=token1").status != 404 {
			t.Errorf("%s: the timeline is there", name)
		}
	}
}

// TestAnOrderIsShownWithoutItsJournal: what is only for curiosity never stands in the way.
func TestAnOrderIsShownWithoutItsJournal(t *testing.T) {
	t.Parallel()
	b := setup(t, withTales(&tales{fails: errors.New("no journal")}))
	b.review("", "tok_ok")
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M?t=token1", "order-paid")
}
