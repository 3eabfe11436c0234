package api_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
)

// TestEveryOperationSurvivesAClientThatHangsUp covers T56, T03 and T06: the client leaves in the middle
// of its request, right after it, or while the run is at any point. It finds its answer later.
func TestEveryOperationSurvivesAClientThatHangsUp(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, o *trial) {
		for _, part := range []float64{0.1, 0.5, 0.9, 0.99, 1} {
			o.survives("after a part of the request", func(c call) { o.sendPart(c, part) })
		}
		for _, point := range o.points {
			o.survives("at "+point, func(c call) {
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				ended := make(chan error, 1)
				o.faults.once(point, func(run context.Context, _ string) error {
					hangUp()
					<-clientLeft(run)
					ended <- run.Err()
					return nil
				})
				if got, err := o.try(ctx, c); err == nil {
					t.Errorf("at %s: the client was still there: %d", point, got.Status)
				}
				if err := <-ended; err != nil {
					t.Errorf("at %s: the run ended with its client: %v", point, err)
				}
			})
		}
	})
}

// sendPart writes a part of a request and closes the connection.
func (s *shop) sendPart(c call, part float64) {
	s.t.Helper()
	req, err := s.request(context.Background(), c)
	must(s.t, err)
	var text bytes.Buffer
	must(s.t, req.Write(&text))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.server.URL, "http://")) //nolint:noctx // loopback
	must(s.t, err)
	_, err = conn.Write(text.Bytes()[:int(part*float64(text.Len()))])
	must(s.t, err)
	must(s.t, conn.Close())
}
