package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: an unguarded pool hands on the caller's context as it is.
func TestUnguardedCallGetsItsCallersContext(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Unguarded: true})
		id := adopt(t, p, 1)
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		for _, ctx := range []context.Context{bg, ctx} {
			same := func(inner context.Context) error {
				if inner != ctx {
					t.Error("another context")
				}
				return nil
			}
			succeeds(t, p.Do(ctx, same))
			succeeds(t, p.With(ctx, id, func(ctx context.Context, _ int) error { return same(ctx) }))
		}
		closes(t, p)
	})
}

// Law: without the guard a call that waits for itself is freed by its context.
func TestUnguardedCallThatWaitsForItselfIsFreedAtItsDeadline(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		if g.name == "sharded isolated" {
			t.Skip("the handle's shard may be the full one")
		}
		p := on(g, pool.Config[int]{Unguarded: true})
		id := adopt(t, p, 1)
		full := fillBut(t, g, p, 1)
		ctx, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		late, stop := context.WithTimeout(bg, 2*time.Second)
		defer stop()
		succeeds(t, p.With(bg, id, func(context.Context, int) error {
			is(t, p.Do(ctx, nothing), context.DeadlineExceeded)
			is(t, p.With(late, id, leave), context.DeadlineExceeded)
			is(t, p.Destroy(late, id), context.DeadlineExceeded)
			is(t, p.Shutdown(late), context.DeadlineExceeded)
			return nil
		}))
		is(t, p.Do(bg, nothing), ioerr.ErrShutdown)
		full.open()
		closes(t, p)
	})
}

// Law: an unguarded pool does not take the guard from the pools around it.
func TestUnguardedPoolKeepsTheGuardOfOthers(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		open := makePool(t, pool.Config[int]{Unguarded: true})
		full := fillBut(t, g, p, 1)
		succeeds(t, p.Do(bg, func(ctx context.Context) error {
			return open.Do(ctx, func(ctx context.Context) error {
				is(t, p.Do(ctx, nothing), ioerr.ErrReentry)
				is(t, p.Shutdown(ctx), ioerr.ErrReentry)
				return nil
			})
		}))
		full.open()
		closes(t, open)
		closes(t, p)
	})
}
