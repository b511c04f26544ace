package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// A queue from which nobody can be taken out.
func TestTheFiftiethOfAHundredThatWaitLeavesAndTheOthersKeepTheirOrder(t *testing.T) {
	for _, handles := range []bool{false, true} {
		t.Run(fmt.Sprint("before a handle: ", handles), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, l := abandons(t, pool.Config[int]{Waiters: 100}, lane.AbandoningConfig{Config: lane.Config{Workers: 1, Queue: 100}})
				id := adopt(t, p, 0)
				var served []int
				call := func(ctx context.Context, fn func(context.Context) (int, error)) error {
					if handles {
						return second(pool.OffloadOn(ctx, p, id, func(ctx context.Context, _ int) (int, error) { return fn(ctx) }))
					}
					return second(pool.Offload(ctx, p, fn))
				}
				g := newGate()
				first := start(func() error { return call(bg, func(ctx context.Context) (int, error) { return 0, g.pass(ctx) }) })
				waits(t, first)
				ctx, cancel := context.WithCancel(bg)
				var calls []<-chan error
				for i := range 100 {
					of := bg
					if i == 49 {
						of = ctx
					}
					calls = append(calls, start(func() error {
						return call(of, func(context.Context) (int, error) { served = append(served, i); return 0, nil })
					}))
					synctest.Wait()
				}
				cancel()
				if e := typed(t, ended(t, calls[49])); e.Outcome != ioerr.Cancelled || e.Effect != ioerr.None {
					t.Errorf("%#v", e)
				}
				if s := l.Stats(); !handles && s.Queued != 99 {
					t.Errorf("%d are queued", s.Queued)
				}
				waits(t, first)
				g.open()
				succeeds(t, ended(t, first))
				for i, c := range calls {
					if i != 49 {
						succeeds(t, ended(t, c))
					}
				}
				if len(served) != 99 || slices.Contains(served, 49) || !slices.IsSorted(served) {
					t.Errorf("served %v", served)
				}
				closes(t, p)
			})
		})
	}
}

// The caller reads what the call, which runs on, is still writing. To be run under the
// race detector.
func TestWhatALeftCallWritesIsNotTheCallers(t *testing.T) {
	p, _ := abandons(t, pool.Config[int]{}, lane.AbandoningConfig{Config: lane.Config{Workers: 4}})
	var wg sync.WaitGroup
	left, received := 0, 0
	for i := range rounds(300, 20_000) {
		stop := make(chan struct{})
		ctx, cancel := context.WithCancel(bg)
		wg.Add(1)
		lines, err := pool.Offload(ctx, p, func(ctx context.Context) (lines []string, err error) {
			defer wg.Done()
			if i%2 == 0 {
				cancel()
			}
			for more := i%3 > 0; more; {
				lines = append(lines, "line")
				runtime.Gosched()
				select {
				case <-stop:
					more = false
				default:
					more = i%2 == 0 || len(lines) < 10
				}
			}
			if err = io.ErrUnexpectedEOF; i%3 == 0 {
				err = nil
			}
			return append(lines, "the end"), err
		})
		switch {
		case wasLeft(err):
			if left++; lines != nil {
				t.Errorf("%q of a call that was left", lines)
			}
			lines = append(lines, "the caller's own")
		case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
			if received++; len(lines) == 0 || lines[len(lines)-1] != "the end" {
				t.Errorf("%q, %v", lines, err)
			}
			lines[0] = "the caller's own"
		default:
			t.Error(err)
		}
		close(stop)
		cancel()
		if lines[0] != "the caller's own" {
			t.Errorf("%q", lines)
		}
		wg.Wait()
	}
	closes(t, p)
	t.Logf("%d left, %d received", left, received)
}

// The server of a file system asks for something on its own mount: the call waits for the
// server, and the server for the slot of the call. It cannot be told from any other, since
// it comes by way of the kernel.
func TestAServerThatCallsItselfIsFreed(t *testing.T) {
	const deadline = time.Second
	for name, test := range map[string]struct {
		config lane.Config
		opts   []pool.Option // of the server
		took   time.Duration
	}{
		"one lane":                {lane.Config{Workers: 1}, nil, deadline},
		"one lane with a reserve": {lane.Config{Workers: 2, Reserved: 1}, []pool.Option{pool.Urgent}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, l := abandons(t, pool.Config[int]{}, lane.AbandoningConfig{Config: test.config})
				requests := make(chan chan error)
				go func() { // the server
					for answer := range requests {
						answer <- p.Do(bg, nothing, test.opts...)
					}
				}()
				for range 10 {
					began := time.Now()
					err := second(pool.Offload(within(t, deadline), p, func(context.Context) (int, error) {
						answer := make(chan error)
						requests <- answer
						return 0, <-answer
					}, pool.Label("stat")))
					if d := time.Since(began); d != test.took || (test.took > 0) != wasLeft(err) || test.took == 0 && err != nil {
						t.Errorf("%v after %v", err, d)
					}
					synctest.Wait() // it has been served since
				}
				if s := l.Stats(); len(s.Left) != 0 || s.Running != 0 || s.Completed != 20 {
					t.Errorf("%+v", s)
				}
				close(requests)
				closes(t, p)
			})
		})
	}
}
