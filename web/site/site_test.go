package site

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// TestAPressGoesOnWithoutItsBrowser: and with what the transport knows of it, which is how long a second
// press waits for the first, and the line in the log.
func TestAPressGoesOnWithoutItsBrowser(t *testing.T) {
	t.Parallel()
	var trace idempotent.Trace
	ctx, leave := context.WithCancel(idempotent.WithHints(t.Context(), idempotent.Hints{Trace: &trace}))
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(ctx, "POST", "/contact", nil)
	steady, end := Steadily(c)
	defer end()
	leave()
	if steady.Err() != nil {
		t.Error("the work ends when the browser leaves")
	}
	if idempotent.TraceOf(steady) != &trace {
		t.Error("the work does not know what the transport knows")
	}
}

// TestAReaderWhoLeavesIsNoFailure: the look-up for a page ends with its reader. A press goes on without, so
// what fails in it is a failure.
func TestAReaderWhoLeavesIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method string
		left   bool
		level  string
	}{{"GET", true, "INFO"}, {"GET", false, "ERROR"}, {"POST", true, "ERROR"}} {
		var book strings.Builder
		s := &Site{Log: slog.New(slog.NewTextHandler(&book, nil))}
		ctx, leave := context.WithCancel(t.Context())
		if tt.left {
			leave()
		}
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(ctx, tt.method, "/orders", nil)
		s.Report(c, context.Canceled)
		leave()
		if !strings.Contains(book.String(), "level="+tt.level+" ") {
			t.Errorf("%s, left %v: %s", tt.method, tt.left, book.String())
		}
	}
}

func TestKeysCarryTheTimeTheyWereMade(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, int(123*time.Millisecond), time.UTC)
	key, err := domain.ParseKey(NewKey(at))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := key.Time(); !ok || !got.Equal(at) {
		t.Errorf("the key says %v, want %v", got, at)
	}
	if one, other := NewKey(at), NewKey(at); one == other {
		t.Error("two keys of one moment are equal")
	}
	if !IsFlow(NewKey(at)) || !IsFlow(NewFlow()) {
		t.Error("our own ids are not recognised")
	}
	for _, s := range []string{"", "x", "../../etc", "00000000-0000-1000-8000-000000000000", "{" + NewFlow() + "}"} {
		if IsFlow(s) {
			t.Errorf("%q passes for an id", s)
		}
	}
}

func TestABasketIsTheSameInEveryOrder(t *testing.T) {
	t.Parallel()
	a := Basket{}.With("mug", 2).With("vase", 1)
	b := Basket{}.With("vase", 1).With("mug", 1).With("mug", 2)
	if a.Print() != b.Print() || a.Print() == a.With("mug", 3).Print() {
		t.Error("the prints of baskets do not tell them apart by content")
	}
	if got := parseBasket(a.text()); got.Print() != a.Print() {
		t.Errorf("read back as %v", got)
	}
	if got := a.With("mug", 1000).Of("mug"); got != domain.MaxQuantity {
		t.Errorf("%d mugs", got)
	}
	if got := a.With("mug", 0).With("vase", -1); len(got) != 0 {
		t.Errorf("left over: %v", got)
	}
	for _, odd := range []string{"mug", "mug:", "mug:0", "mug:-1", "mug:100", ":1", "mug:1x", ",,,"} {
		if got := parseBasket(odd); len(got) != 0 {
			t.Errorf("%q became %v", odd, got)
		}
	}
}

// TestOnlyAMissingPageIsMistyped: what is refused, too old or too large was typed well.
func TestOnlyAMissingPageIsMistyped(t *testing.T) {
	t.Parallel()
	for kind, p := range problems {
		if (p.Text == ui.TNotFoundTo) != (kind == domain.NotFound) {
			t.Errorf("%s says: %s", kind, p.Text.En)
		}
	}
}
