package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestEveryOperationSurvivesACrashAtEveryPoint covers T35, T39, T47, T59 and S43: a run that ends in an
// error or a panic, at any point it passes, is repaired by the retry, also when the first retry breaks
// off in turn.
func TestEveryOperationSurvivesACrashAtEveryPoint(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, o *trial) {
		for _, first := range o.points {
			o.survives("error at "+first, func(c call) { o.breaks(c, "error", first) })
			o.survives("panic at "+first, func(c call) { o.breaks(c, "panic", first) })
			for _, second := range o.points {
				o.survives("panic at "+first+", error at "+second, func(c call) {
					o.breaks(c, "panic", first)
					o.faults.once(second, breaks["error"])
					o.do(c)
					o.faults.clear()
				})
			}
		}
	})
}

var breaks = map[string]func(context.Context, string) error{
	"panic": func(_ context.Context, point string) error { panic("secret of " + point) },
	"error": func(_ context.Context, point string) error { return errors.New("secret of " + point) },
}

// breaks lets a run break off at a point, and checks that it tells nothing of how, asks for a retry, and left nothing
// behind if nothing had been committed. After its last commit there is an answer to give all the same,
// unless the run ended in a panic.
func (o *trial) breaks(c call, how, point string) {
	o.t.Helper()
	what := how + " at " + point
	o.faults.once(point, breaks[how])
	keys, effects := o.keys(), o.example.effects(o.shop)
	got := o.do(c)
	if how == "error" && point == o.points[len(o.points)-1] {
		wantStatus(o.t, what, got, o.example.status)
		return
	}
	code := "retry_same_key"
	if strings.Contains(got.Body, "outcome_unknown") {
		code = "outcome_unknown" // the provider may have done it
	}
	if p := refusal(o.t, what, got, 503, code); p.SafeNewKey {
		o.t.Errorf("%s: a new key is called safe", what)
	}
	if strings.Contains(got.Body, "secret") || strings.Contains(got.Body, ".go") {
		o.t.Errorf("%s: the answer tells of the inside: %s", what, got.Body)
	}
	if point == o.points[0] && (o.keys() != keys || o.example.effects(o.shop) != effects) {
		o.t.Errorf("%s: something was left behind before the first commit", what)
	}
}
