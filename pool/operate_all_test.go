package pool_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: of many operations each tells itself what came of it, whatever they share.
func TestEachOfManyOperationsTellsWhatCameOfIt(t *testing.T) {
	operated(t, need{}, 4, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		a, b := adopt(t, p, 1), adopt(t, p, 2)
		ops := []lane.Op{{}, broken(), sleep(time.Second), {}, broken(), sleep(time.Second)}
		succeeds(t, p.OperateAll(bg, []handle.ID{b, a, noID, a, b, b}, ops))
		for i, op := range ops {
			if _, refused := op.Err.(*ioerr.Error); (op.Err != nil) != (op.Kind == fileop.Kinds) || refused {
				t.Errorf("%d: %v", i, op.Err)
			}
		}
		if s := p.Stats(); s.Failed != 2 || s.Ran != 2 || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		succeeds(t, p.OperateAll(bg, nil, nil))
		succeeds(t, p.With(bg, a, leave))
		succeeds(t, p.With(bg, b, leave))

		ops = []lane.Op{sleep(time.Hour), {}, sleep(time.Hour)}
		succeeds(t, p.OperateAll(within(t, time.Second), make([]handle.ID, 3), ops))
		succeeds(t, ops[1].Err)
		for _, op := range []lane.Op{ops[0], ops[2]} {
			want{outcome: ioerr.TimedOut, origin: ioerr.Lane, effect: ioerr.None, err: context.DeadlineExceeded, lane: laneName}.check(t, op.Err)
		}
		require.EqualValues(t, 2, p.Stats().TimedOut)
		closes(t, p)
	})
}

// Law: an operation that has not run says why.
func TestAnOperationThatHasNotRunSaysWhy(t *testing.T) {
	operated(t, need{}, 4, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id, gone := adopt(t, p, 1), adopt(t, p, 2)
		succeeds(t, p.Destroy(bg, gone))
		refused := func(want error, ctx context.Context, ids []handle.ID, n int) {
			t.Helper()
			ops := make([]lane.Op, n)
			err := p.OperateAll(ctx, ids, ops)
			is(t, err, want)
			some := false
			for i := range ops {
				some = some || errors.Is(ops[i].Err, want)
			}
			if !some {
				t.Errorf("%v: silent", want)
			}
		}
		dead, cancel := context.WithCancel(bg)
		cancel()
		refused(ioerr.ErrHandleNotFound, bg, []handle.ID{id, gone}, 2)
		refused(context.Canceled, dead, []handle.ID{id, id}, 2)
		refused(ioerr.ErrInvalid, bg, []handle.ID{id}, 2)
		succeeds(t, p.With(bg, id, leave)) // its lease was given back
		closes(t, p)
		refused(ioerr.ErrShutdown, bg, []handle.ID{id, noID}, 2)
	})
	require.Error(t, (*pool.Pool[int])(nil).OperateAll(bg, []handle.ID{noID}, make([]lane.Op, 1)))
}

// Law: who wants the same resources in another order does not wait for ever.
func TestManyOperationsLeaseInOneOrder(t *testing.T) {
	operated(t, need{}, 2, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Patience: -1})
		a, b, c := adopt(t, p, 1), adopt(t, p, 2), adopt(t, p, 3)
		var all sync.WaitGroup
		for _, ids := range [][]handle.ID{{a, b, c}, {c, b, a}, {b, a, c}, {a, c, a}, {c, c, b}} {
			all.Go(func() {
				for range 20 {
					succeeds(t, p.OperateAll(bg, ids, make([]lane.Op, 3)))
				}
			})
		}
		all.Wait()
		closes(t, p)
	})
}

// Law: the resource is leased once, and not disposed of before the last operation.
func TestManyOperationsKeepTheirResource(t *testing.T) {
	operated(t, need{}, 2, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[*sheet]{Dispose: (*sheet).dispose, Share: 8})
		r := &sheet{t: t}
		id := adopt(t, p, r)
		ids := []handle.ID{id, id, id, id, id}
		ops := []lane.Op{sleep(time.Second), sleep(time.Hour), {}, sleep(time.Second), {}}
		over := start(func() error { return p.OperateAll(bg, ids, ops) })
		waits(t, over)
		gone := start(func() error { return p.Destroy(bg, id) })
		time.Sleep(time.Minute)
		waits(t, gone)
		require.Zero(t, r.disposed.Load())
		ignore(<-over)
		succeeds(t, <-gone)
		closes(t, p)
	})
}

// Law: inside a call of the lane many operations take the slots that are free, and wait
// for none.
func TestManyOperationsInsideACall(t *testing.T) {
	operated(t, need{}, 2, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		succeeds(t, p.Do(bg, func(ctx context.Context) error {
			return p.OperateAll(ctx, []handle.ID{id, noID, id}, make([]lane.Op, 3))
		}))
		closes(t, p)
	})
}

// Law: a shutdown that gives up calls all of them off.
func TestAShutdownThatGivesUpCallsManyOff(t *testing.T) {
	operated(t, need{}, 4, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		ops := []lane.Op{sleep(time.Hour), sleep(time.Hour)}
		over := start(func() error { return p.OperateAll(bg, []handle.ID{noID, id}, ops) })
		waits(t, over)
		require.Error(t, p.Shutdown(within(t, time.Second)))
		synctest.Wait()
		succeeds(t, ended(t, over))
		for i, op := range ops {
			w := want{outcome: ioerr.ShutdownInProgress, origin: ioerr.Lane, effect: ioerr.None, err: ioerr.ErrShutdown, lane: laneName}
			if i == 1 {
				w.id = id
			}
			w.check(t, op.Err)
		}
		require.EqualValues(t, 2, p.Stats().Shutdown)
		closes(t, p)
	})
}

// Law: a context that panics in one of many does so at its caller's, and nothing is held.
func TestAContextThatPanicsInManyOperations(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 4}})
		id := adopt(t, p, 1)
		require.Panics(t, func() {
			ignore(p.OperateAll(&valueBomb{Context: within(t, time.Hour), after: 1}, []handle.ID{id, id, id, id}, make([]lane.Op, 4)))
		})
		succeeds(t, p.With(bg, id, leave))
		closes(t, p)
	})
}

// valueBomb panics when it was asked for its end so many times.
type valueBomb struct {
	context.Context
	mu    sync.Mutex
	after int
}

func (c *valueBomb) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.after--; c.after < 0 {
		panic("bomb")
	}
	return nil
}

// Law: one of many operations that could not make its data durable poisons its resource,
// also beside others on it.
func TestOneOfManyOperationsPoisonsItsResource(t *testing.T) {
	for _, share := range []int{1, 8} {
		operated(t, need{}, 4, func(t *testing.T, g *ground) {
			p := on(g, pool.Config[int]{Share: share})
			id, other := adopt(t, p, 1), adopt(t, p, 2)
			lost := lane.Op{Kind: fileop.Fsync, File: &fileop.File{FD: 1 << 20}}
			ops := []lane.Op{lost, {}, lost, broken(), lost}
			ignore(p.OperateAll(bg, []handle.ID{id, other, id, id, id}, ops)) // a lane that carries refuses the rest
			require.Equal(t, pool.Poisoned, p.Health(id))
			require.Equal(t, pool.Healthy, p.Health(other))
			is(t, p.With(bg, id, leave), ioerr.ErrPoisoned)
			closes(t, p)
		})
	}
}
