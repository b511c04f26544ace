package pool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// strange is a context that keeps the letter of the contract but not its habits:
// each Err is a new error, or there is none although Done is closed.
type strange struct {
	context.Context
	err func() error
}

func (c strange) Err() error { return c.err() }

// Law: a context of somebody's making that ends in its own way is still the end of
// a wait, typed, and nothing runs.
func TestStrangeContextEndsAWait(t *testing.T) {
	for name, errOf := range map[string]func(error) error{
		"without an error": func(error) error { return nil },
		"a new error each time": func(err error) error {
			if err == nil {
				return nil
			}
			return fmt.Errorf("strange: %w", err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1}})
			busy := newGate()
			id := adopt(t, p, 1)
			holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
			busy.await(t, 1)
			for _, call := range []func(context.Context) error{
				func(ctx context.Context) error { return p.Do(ctx, nothing) },
				func(ctx context.Context) error { return p.With(ctx, id, leave[int]) },
			} {
				inner, cancel := context.WithCancel(bg)
				waiting := start(func() error {
					return call(strange{inner, func() error { return errOf(inner.Err()) }})
				})
				cancel()
				err := <-waiting
				is(t, err, context.Canceled)
				if e, _ := errors.AsType[*ioerr.Error](err); e == nil || e.Outcome != ioerr.Cancelled || e.Effect != ioerr.None {
					t.Errorf("got %+v", e)
				}
			}
			busy.open()
			succeeds(t, <-holder)
			closes(t, p)
		})
	}
}

// Law: also a context that ends with an error of its own ends the wait, or the call
// before it began, as a cancellation that keeps that error.
func TestContextWithAnErrorOfItsOwnIsACancellation(t *testing.T) {
	own := errors.New("own")
	synctest.Test(t, func(t *testing.T) {
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Name: laneName, Workers: 1}})
		id := adopt(t, p, 1)
		busy := newGate()
		holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
		busy.await(t, 1)
		inner, cancel := context.WithCancel(bg)
		ctx := strange{inner, func() error {
			if inner.Err() != nil {
				return own
			}
			return nil
		}}
		queued, waiting := start(func() error { return p.Do(ctx, nothing) }), start(func() error { return p.With(ctx, id, leave) })
		waits(t, queued)
		waits(t, waiting)
		cancel()
		for origin, err := range map[ioerr.Origin]error{
			ioerr.Lane:     ended(t, queued),
			ioerr.Handle:   ended(t, waiting),
			ioerr.Executor: p.Do(ctx, nothing),
		} {
			e := typed(t, err)
			if e.Outcome != ioerr.Cancelled || e.Origin != origin || e.Effect != ioerr.None || !errors.Is(err, own) && !errors.Is(err, context.Canceled) {
				t.Errorf("%v by %v: %#v", e.Outcome, origin, e)
			}
		}
		busy.open()
		succeeds(t, ended(t, holder))
		closes(t, p)
	})
}
