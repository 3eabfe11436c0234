//go:build !failpoint

package main

import (
	"context"
	"time"
)

// withFailpoints does nothing: a release cannot be told to fail. See failpoint.go.
func withFailpoints(ctx context.Context) (context.Context, error) { return ctx, nil }

// failpointLease leaves the lease as it is.
func failpointLease() (time.Duration, error) { return 0, nil }
