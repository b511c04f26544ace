package main

import (
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestResultsComeInTheOrderOfTheItems(t *testing.T) {
	for _, window := range []int{1, 2, 7, 1000} {
		synctest.Test(t, func(t *testing.T) {
			late := func(i int) int {
				time.Sleep(time.Duration((i * 7919) % 101))
				return i
			}
			got := slices.Collect(inOrder(count(500), window, late, func() {}))
			if !slices.Equal(got, slices.Collect(count(500))) {
				t.Errorf("window %d: got %v", window, got)
			}
		})
	}
}

func TestNoMoreItemsAreUnderWayThanTheWindow(t *testing.T) {
	for _, window := range []int{1, 2, 7} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			var started atomic.Int64
			wait := func(i int) int {
				started.Add(1)
				<-gate
				return i
			}
			var idle atomic.Int64
			go func() {
				for range inOrder(count(100), window, wait, func() { idle.Add(1) }) {
				}
			}()
			time.Sleep(time.Hour)
			if n := started.Load(); n != int64(window) {
				t.Errorf("window %d: %d calls started", window, n)
			}
			if n := idle.Load(); n != 1 {
				t.Errorf("window %d: idle called %d times, want 1", window, n)
			}
			close(gate)
			synctest.Wait()
			if n := started.Load(); n != 100 {
				t.Errorf("window %d: %d calls, want 100", window, n)
			}
		})
	}
}

func TestStoppingEarlyWaitsForWhatWasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started, ended atomic.Int64
		work := func(i int) int {
			started.Add(1)
			time.Sleep(time.Second)
			ended.Add(1)
			return i
		}
		for i := range inOrder(count(1000), 10, work, func() {}) {
			if i == 5 {
				break
			}
		}
		if s, e := started.Load(), ended.Load(); s != e || s > 30 {
			t.Errorf("%d started, %d ended", s, e)
		}
	})
}
