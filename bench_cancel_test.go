package iolane_test

// Cancellation.

import (
	"context"
	"testing"
	"time"
)

// BenchmarkCancel: one caller that is cancelled while it waits in the queue, one
// while it waits to be accepted because the queue is full, one while it runs, which
// changes nothing, and 100 waiting callers at once. Baselines have one way to wait.
func BenchmarkCancel(b *testing.B) {
	b.Run("accepted", func(b *testing.B) { cancelWaiting(b, 0, 1) })
	b.Run("unaccepted", func(b *testing.B) { cancelWaiting(b, cancelQueue, 1) })
	b.Run("batch-100", func(b *testing.B) { cancelWaiting(b, 0, 100) })
	b.Run("running", func(b *testing.B) {
		const d = 50 * time.Microsecond
		r := rounds(d)
		each(b, bounded(4), nil, func(b *testing.B, x executor) {
			var t tally
			for b.Loop() {
				ctx, cancel := context.WithCancel(context.Background())
				t.count(x.call(ctx, func() error { cancel(); spin(r); return nil }))
			}
			t.report(b)
			efficiency(b, 1, d, 1)
		})
	})
}

const cancelQueue = 100

// cancelWaiting cancels n callers that came to held workers, behind so many others.
func cancelWaiting(b *testing.B, ahead, n int) {
	nothing := func() error { return nil }
	each(b, limits{workers: 2, queue: cancelQueue}, queues, func(b *testing.B, x executor) {
		release := hold(x, 2)
		var first, t tally
		wait := arrive(ahead, x, &first, nil, nothing)
		time.Sleep(time.Millisecond) // until the last one has its place
		for b.Loop() {
			ctx, cancel := context.WithCancel(context.Background())
			mortal := executor{call: func(_ context.Context, fn func() error) error { return x.call(ctx, fn) }}
			gone := arrive(n, mortal, &t, nil, nothing)
			cancel()
			gone()
		}
		release()
		wait()
		first.report(b)
		t.report(b)
	})
}
