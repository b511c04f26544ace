package iolane_test

// Callers: who comes when.

import (
	"context"
	"sync"
)

// hold occupies all workers of x until release is called.
func hold(x executor, workers int) (release func()) {
	gate := make(chan struct{})
	var in, out sync.WaitGroup
	in.Add(workers)
	for range workers {
		out.Go(func() {
			_ = x.call(context.Background(), func() error { in.Done(); <-gate; return nil })
		})
	}
	in.Wait()
	return func() { close(gate); out.Wait() }
}

// arrive has n callers come and returns when all are there: on their way in, waiting,
// refused, or running if nothing holds them. wait waits until they have left. l may
// be nil.
func arrive(n int, x executor, t *tally, l *latency, fn func() error) (wait func()) {
	var came, left sync.WaitGroup
	came.Add(n)
	for range n {
		left.Go(func() {
			came.Done()
			began := l.start()
			err := x.call(context.Background(), fn)
			l.stop(began)
			t.count(err)
		})
	}
	came.Wait()
	return left.Wait
}

// burst makes n concurrent calls of fn and waits for them.
func burst(n int, x executor, t *tally, fn func() error) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { t.count(x.call(context.Background(), fn)) })
	}
	wg.Wait()
}

// crowd has n callers make so many calls each and waits for them.
func crowd(n, calls int, x executor, t *tally, fn func() error) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for range calls {
				t.count(x.call(context.Background(), fn))
			}
		})
	}
	wg.Wait()
}
