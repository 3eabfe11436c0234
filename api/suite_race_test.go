package api_test

import "testing"

// TestEveryOperationRacesForItsKey covers T51: two processes get the same request, and neither has
// written its key when the other is about to. The one who loses waits or is told to come back; it never
// fails.
func TestEveryOperationRacesForItsKey(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, o *trial) {
		var there faults
		twin := newShop(t, o.database, withProvider(o.provider), withPlan(there.plan), withRegistry(noMemory))
		for range 3 {
			o.survives("a race", func(c call) {
				hereReached, here := o.faults.hold(t, o.points[0])
				thereReached, away := there.hold(t, o.points[0])
				runners := []<-chan answer{o.inBackground(c), twin.inBackground(c)}
				await(t, "this process", hereReached)
				await(t, "the other process", thereReached)
				here()
				away()
				for _, runner := range runners {
					if got := <-runner; got.Status != o.example.status {
						refusal(t, "the loser", got, 409, "operation_in_progress")
					}
				}
			})
		}
	})
}
