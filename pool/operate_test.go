package pool_test

import (
	"context"
	"errors"
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

func bubble(t *testing.T, law func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, law)
}

// Law: an operation is a call like any other: it succeeds, fails by its own error, or is
// refused, whoever does it.
func TestAnOperationIsACall(t *testing.T) {
	operated(t, need{}, 4, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		op := lane.Op{}
		succeeds(t, p.Operate(bg, noID, &op))
		succeeds(t, p.Operate(bg, id, &op, pool.Label("l"), pool.Key("k"), pool.Urgent))

		bad := broken()
		w := leaf(nil)
		w.lane, w.id, w.label = laneName, id, "l"
		err := p.Operate(bg, id, &bad, pool.Label("l"))
		w.err = bad.Err
		require.Error(t, bad.Err)
		w.check(t, err)
		is(t, p.Operate(bg, noID, &bad), bad.Err)

		require.ErrorIs(t, p.Operate(bg, id, nil), ioerr.ErrInvalid)
		dead, cancel := context.WithCancel(bg)
		cancel()
		is(t, p.Operate(dead, id, &op), context.Canceled)
		succeeds(t, p.Destroy(bg, id))
		is(t, p.Operate(bg, id, &op), ioerr.ErrHandleNotFound)
		if s := p.Stats(); s.Failed != 4 || s.Ran != 2 || s.Cancelled != 1 || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
		is(t, p.Operate(bg, noID, &op), ioerr.ErrShutdown)
	})
	require.Error(t, (*pool.Pool[int])(nil).Operate(bg, noID, new(lane.Op)))
	require.Error(t, new(pool.Pool[int]).Operate(bg, noID, new(lane.Op)))
}

// Law: an operation that was called off has the outcome of its context, and no effect.
func TestAnOperationThatWasCalledOffHadNoEffect(t *testing.T) {
	operated(t, need{}, 4, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(bg)
		op := sleep(time.Hour)
		over := start(func() error { return p.Operate(ctx, id, &op, pool.Label("l")) })
		waits(t, over)
		cancel(why)
		want{ioerr.Cancelled, ioerr.Lane, ioerr.None, why, id, "l", laneName}.check(t, ended(t, over))
		require.Equal(t, fileop.ErrCancelled, op.Err)

		err := p.Operate(within(t, time.Second), noID, &op)
		want{outcome: ioerr.TimedOut, origin: ioerr.Lane, effect: ioerr.None, err: context.DeadlineExceeded, lane: laneName}.check(t, err)
		if s := p.Stats(); s.Cancelled != 1 || s.TimedOut != 1 || s.Ran != 0 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
	})
}

// Law: a shutdown that gives up calls operations off, also those whose context never ends.
func TestAShutdownThatGivesUpCallsOperationsOff(t *testing.T) {
	operated(t, need{}, 4, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[*sheet]{Share: 4, Dispose: (*sheet).dispose})
		r := &sheet{t: t}
		id := adopt(t, p, r)
		cancellable, cancel := context.WithCancel(bg)
		defer cancel()
		var all []<-chan error
		for _, ctx := range []context.Context{bg, cancellable} {
			all = append(all, start(func() error { op := sleep(time.Hour); return p.Operate(ctx, id, &op) }))
		}
		waits(t, all[0])
		over := start(func() error { return p.Shutdown(within(t, time.Second)) })
		waits(t, over)
		require.Zero(t, r.disposed.Load())
		time.Sleep(time.Second)
		is(t, ended(t, over), context.DeadlineExceeded)
		for _, c := range all {
			w := refusal(ioerr.Lane, ioerr.ErrShutdown)
			w.id, w.lane = id, laneName
			w.check(t, ended(t, c))
		}
		closes(t, p)
		require.EqualValues(t, 1, r.disposed.Load())
	})
}

// Law: with a part of a transfer done a call that was called off has had an effect.
func TestAPartOfATransferIsAnEffect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newOperating(t, lane.Config{Workers: 1})
		p := makePool(t, pool.Config[int]{Lane: partly{l}, OwnsLane: true})
		var op lane.Op
		err := p.Operate(within(t, time.Second), noID, &op)
		want{outcome: ioerr.TimedOut, origin: ioerr.Lane, effect: ioerr.Done, err: context.DeadlineExceeded, lane: laneName}.check(t, err)
		if s := p.Stats(); s.Ran != 1 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
	})
}

// partly moves a byte and is called off.
type partly struct{ *operating }

func (l partly) Operate(ctx context.Context, _ lane.Call, op *lane.Op) error {
	<-ctx.Done()
	op.N, op.Err = 1, fileop.ErrCancelled
	return nil
}

// Law: the wait for the handle and the wait for the lane end with the context.
func TestAnOperationThatWaitsIsRefusedWithItsContext(t *testing.T) {
	operated(t, need{bounded: true}, 1, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		op := sleep(time.Hour)
		full := fill(t, g, p)
		is(t, p.Operate(within(t, time.Second), id, &op), context.DeadlineExceeded) // the lane
		holder := start(func() error { return p.With(bg, id, leave) })
		waits(t, holder)
		is(t, p.Operate(within(t, time.Second), id, &op), context.DeadlineExceeded) // the handle
		is(t, p.Operate(bg, id, &op, pool.FailFast), ioerr.ErrHandleBusy)
		if op.Err != nil || p.Stats().Ran != 0 {
			t.Errorf("%v, %+v", op.Err, p.Stats())
		}
		full.open()
		succeeds(t, ended(t, holder))
		closes(t, p)
	})
}

// Law: many operations use one resource at a time, as far as it has shares; it is disposed
// of after the last.
func TestOperationsShareAResource(t *testing.T) {
	operated(t, need{}, 64, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[*sheet]{Share: 64, Dispose: (*sheet).dispose})
		r := &sheet{t: t}
		id := adopt(t, p, r)
		began := time.Now()
		var all []<-chan error
		for i := range 64 {
			all = append(all, start(func() error { op := sleep(time.Duration(i+1) * time.Second); return p.Operate(bg, id, &op) }))
		}
		synctest.Wait()
		gone := start(func() error { return p.Destroy(bg, id) })
		time.Sleep(63*time.Second + time.Millisecond)
		waits(t, gone)
		require.Zero(t, r.disposed.Load())
		succeeds(t, <-gone)
		for _, c := range all {
			succeeds(t, ended(t, c))
		}
		require.Equal(t, 64*time.Second, time.Since(began))
		require.EqualValues(t, 1, r.disposed.Load())
		closes(t, p)
	})
}

// Law: the lane is told what a call is, and gets a context that finds what it put there.
func TestAnOperatorIsToldWhatACallIs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, l := operator(t, pool.Config[int]{}, 2)
		id := adopt(t, p, 1)
		ctx, cancel := context.WithCancel(context.WithValue(bg, keyType{}, 42))
		defer cancel()
		var op lane.Op
		succeeds(t, p.Operate(ctx, id, &op, pool.Label("l"), pool.Key("k"), pool.Urgent, pool.FailFast, pool.AcceptWithin(time.Minute)))
		c, got := l.last()
		if c.Label != "l" || c.Key != "k" || !c.Urgent || c.Policy != lane.FailFast || c.Handle != id.Uint64() || c.NoWait ||
			c.Owner == 0 || !c.Accept.Equal(time.Now().Add(time.Minute)) || got.Value(keyType{}) != 42 {
			t.Errorf("%+v, %v", c, got)
		}
		succeeds(t, p.Do(ctx, func(ctx context.Context) error { return p.Operate(ctx, noID, &op) }))
		if c, _ := l.last(); !c.NoWait || c.Handle != 0 {
			t.Errorf("%+v", c)
		}
		closes(t, p)
	})
}

// Law: a failed operation speaks against its resource, and the time that it may have
// waited does not.
func TestAnOperatorsOperationsAreJudgedByTheirErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, _ := operator(t, pool.Config[int]{Health: pool.HealthRules{Down: 1, Probe: time.Hour, Slow: time.Second, Stuck: time.Second, Bad: func(error) bool { return true }}}, 1)
		id, other := adopt(t, p, 1), adopt(t, p, 2)
		op := sleep(time.Minute)
		succeeds(t, p.Operate(bg, id, &op))
		require.Equal(t, pool.Healthy, p.Health(id))
		ops := []lane.Op{{}, broken(), {}}
		succeeds(t, p.OperateAll(bg, []handle.ID{other, id, id}, ops))
		require.Equal(t, pool.Down, p.Health(id))
		require.Equal(t, pool.Healthy, p.Health(other))
		op = broken()
		require.Error(t, p.Operate(bg, other, &op))
		require.Equal(t, pool.Down, p.Health(other))
		closes(t, p)
	})
}

// Law: operations without a label that succeed allocate nothing.
func TestOperationsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties sync.Pools at random")
	}
	for name, c := range map[string]pool.Config[int]{"exclusive": {}, "shares": {Share: 8}, "inline": {Lane: lane.NewInline("")}} {
		p := makePool(t, c)
		id := adopt(t, p, 1)
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		var op lane.Op
		allocates(t, name, 0, func() { _ = p.Operate(bg, id, &op) })
		allocates(t, name+", no handle", 0, func() { _ = p.Operate(bg, noID, &op) })
		allocates(t, name+", cancellable", 1, func() { _ = p.Operate(ctx, id, &op) })
		closes(t, p)
	}
}
