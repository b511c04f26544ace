package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// scene is what is measured.
type scene struct {
	size, clients int
	cancellable   bool
	work          int // steps of a loop, while a resource is held
}

func (s scene) String() string {
	name := fmt.Sprintf("%d of %d", s.clients, s.size)
	if s.cancellable {
		name += ", cancellable"
	}
	return name
}

// contended reports whether clients wait for resources.
func (s scene) contended() bool { return s.clients > s.size }

// result is one measurement.
type result struct {
	rate float64       // borrowings a second
	p99  time.Duration // of the wait for a resource
}

// measure has the clients borrow and give back for about d.
func measure(m maker, s scene, d time.Duration) (r result, err error) {
	l, err := m.make(s.size)
	if err != nil {
		return r, err
	}
	ctx := context.Background()
	if s.cancellable {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
	}
	var stop atomic.Bool
	var all sync.WaitGroup
	waits := make([][]time.Duration, s.clients)
	errs := make([]error, s.clients)
	counts := make([]int, s.clients)
	began := time.Now()
	for i := range s.clients {
		all.Go(func() {
			var asked time.Time
			use := func(_ context.Context, c *conn) error {
				if counts[i]%16 == 0 {
					waits[i] = append(waits[i], time.Since(asked))
				}
				for range s.work {
					c.uses++
				}
				return nil
			}
			for ; !stop.Load() && errs[i] == nil; counts[i]++ {
				if counts[i]%16 == 0 {
					asked = time.Now()
				}
				errs[i] = l.with(ctx, use)
			}
		})
	}
	time.Sleep(d)
	stop.Store(true)
	all.Wait()
	took := time.Since(began)
	n := 0
	for _, c := range counts {
		n += c
	}
	for _, e := range errs {
		if e != nil {
			return r, e
		}
	}
	every := slices.Concat(waits...)
	slices.Sort(every)
	r.rate = float64(n) / took.Seconds()
	if len(every) > 0 {
		r.p99 = every[len(every)*99/100]
	}
	return r, l.close()
}

// median of some results, each figure for itself.
func median(all []result) (r result) {
	rates, waits := make([]float64, len(all)), make([]time.Duration, len(all))
	for i, x := range all {
		rates[i], waits[i] = x.rate, x.p99
	}
	slices.Sort(rates)
	slices.Sort(waits)
	return result{rates[len(all)/2], waits[len(all)/2]}
}
