package main

import (
	"iter"
	"time"
)

// linger is how long inOrder waits for a result until it says that it is idle.
const linger = 10 * time.Millisecond

// inOrder calls do for each item, each call on a goroutine of its own, and yields
// the results in the order of the items. At most window items are taken whose
// results have not been yielded, so a slow one holds up the others once they are
// that far ahead: this is where treesum's memory is bounded.
//
// idle is called when nothing has come for a moment. All calls have ended when
// inOrder returns, also if it is stopped early.
func inOrder[T, R any](items iter.Seq[T], window int, do func(T) R, idle func()) iter.Seq[R] {
	return func(yield func(R) bool) {
		stop := make(chan struct{})
		// One more is in the hands of whoever ranges over the results.
		futures := make(chan chan R, window-1)
		go func() {
			defer close(futures)
			for item := range items {
				future := make(chan R, 1)
				select {
				case <-stop:
					return
				case futures <- future:
				}
				go func() { future <- do(item) }()
			}
		}()
		defer func() {
			close(stop)
			for future := range futures {
				<-future
			}
		}()
		timer := time.NewTimer(linger)
		defer timer.Stop()
		for {
			future, ok := receive(futures, timer, idle)
			if !ok {
				return
			}
			if r, _ := receive(future, timer, idle); !yield(r) {
				return
			}
		}
	}
}

// receive receives from c and calls idle once if that takes its time.
func receive[T any](c <-chan T, timer *time.Timer, idle func()) (v T, ok bool) {
	select {
	case v, ok = <-c:
		return v, ok
	default:
	}
	timer.Reset(linger)
	select {
	case v, ok = <-c:
	case <-timer.C:
		idle()
		v, ok = <-c
	}
	return v, ok
}
