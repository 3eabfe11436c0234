// Package fault names the places where a demonstration or a test may let things go wrong.
//
// A plan travels in the context, so two requests never disturb each other, and a context without a
// plan costs one lookup. Only demo mode and tests put a plan there.
package fault

import "context"

// Plan decides what happens at a named point: it may sleep, panic, kill the process or give an error.
// It must be safe for concurrent use.
type Plan func(ctx context.Context, point string) error

type planKey struct{}

// With gives a context that carries the plan.
func With(ctx context.Context, plan Plan) context.Context {
	return context.WithValue(ctx, planKey{}, plan)
}

// Point reports reaching a named place. It gives nil unless a plan says otherwise.
func Point(ctx context.Context, point string) error {
	if plan, ok := ctx.Value(planKey{}).(Plan); ok {
		return plan(ctx, point)
	}
	return nil
}
