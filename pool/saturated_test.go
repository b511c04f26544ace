package pool_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: whatever waits for a saturated lane is told, also what waits behind such a call for
// a handle or a key: it never ran, and holds nothing.
func TestWhateverWaitsForASaturatedLaneIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{
			Config: lane.Config{Workers: 1, PerKey: 1}, Left: 1, CallLimit: time.Hour,
		})
		id, g := adopt(t, p, 1), newGate()
		stuck := func(ctx context.Context) (int, error) { return 1, g.pass(ctx) }
		is(t, second(pool.Offload(bg, p, stuck)), ioerr.ErrLeft) // replaced
		last := start(func() error { return second(pool.Offload(bg, p, stuck)) })
		synctest.Wait()
		var line []<-chan error
		for range 2 { // the second one of each waits behind the first
			for _, call := range []func() error{
				func() error { return p.Do(bg, never(t)) },
				func() error { return p.Do(bg, never(t), pool.Key("disk")) },
				func() error { return second(pool.Offload(bg, p, value(never(t)))) },
				func() error {
					return p.With(bg, id, func(ctx context.Context, _ int) error { return never(t)(ctx) })
				},
			} {
				line = append(line, start(call))
				synctest.Wait()
			}
		}
		waits(t, last)
		time.Sleep(time.Hour + time.Second)
		is(t, ended(t, last), ioerr.ErrLeft)
		for _, c := range line {
			err := ended(t, c)
			is(t, err, ioerr.ErrSaturated)
			if e := typed(t, err); e.Outcome != ioerr.Failed || e.Origin != ioerr.Lane || e.Effect != ioerr.None {
				t.Errorf("%#v", e)
			}
		}
		g.open()
		synctest.Wait()
		succeeds(t, p.Do(bg, nothing, pool.Key("disk")))
		succeeds(t, p.With(bg, id, leave))
		closes(t, p)
	})
}

// never is a call that must not run.
func never(t *testing.T) func(context.Context) error {
	return func(context.Context) error { t.Error("ran"); return nil }
}

func value(fn func(context.Context) error) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { return 0, fn(ctx) }
}
