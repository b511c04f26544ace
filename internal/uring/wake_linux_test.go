//go:build amd64 || 386 || arm64

package uring

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWakeEndsTheWait(t *testing.T) {
	onEach(t, func(t *testing.T, r *Ring) {
		p := pipe(t)
		s, _ := r.Take()
		r.Read(s, FD(p.r.Fd()), make([]byte, 1), -1) // never ends
		for range 2 {                                // before the wait
			if !r.Wake() {
				t.Fatal("cannot be woken")
			}
		}
		for i := range 100 {
			if i > 0 {
				go r.Wake()
			}
			require.NoError(t, r.Enter(All, 1, 10*time.Second))
			if n := r.Reap(nil); n != 0 {
				t.Fatalf("%d told, want none", n)
			}
		}
		if got := r.Stats().Wakeups; got != 100 {
			t.Errorf("%d wake-ups, want 100", got)
		}
		if r.Busy() != 1 {
			t.Errorf("%d busy, want 1", r.Busy())
		}
	})
}

func TestWakeMayBeCalledByAnybodyAtAnyTime(t *testing.T) {
	for range 20 {
		r, err := New(Config{})
		if err != nil {
			t.Skip(err)
		}
		var group sync.WaitGroup
		var stop atomic.Bool
		for range 4 {
			group.Go(func() {
				for !stop.Load() && r.Wake() {
				}
			})
		}
		for range 10 {
			require.NoError(t, r.Enter(All, 1, time.Second))
			r.Reap(nil)
		}
		require.NoError(t, r.Close(time.Second, nil)) // while they call
		stop.Store(true)
		group.Wait()
		if r.Wake() {
			t.Error("woken after its end")
		}
	}
}

// A completion that comes between two looks at the queue was once counted twice.
func TestNoWaitMissesACompletion(t *testing.T) {
	r := live(t, Config{})
	slowest := time.Duration(0)
	for i := range 3000 {
		s, ok := r.Take()
		require.True(t, ok)
		r.Timeout(s, time.Duration(i%100)*time.Microsecond) // which may pass at any moment
		start := time.Now()
		require.NoError(t, r.Enter(All, 1, 10*time.Second))
		slowest = max(slowest, time.Since(start))
		if r.Reap(nil) != 1 {
			t.Fatal("not there")
		}
	}
	if slowest > 9*time.Second {
		t.Errorf("a wait of %v", slowest)
	}
}
