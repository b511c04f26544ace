package pool_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func newGroup(t testing.TB, p *pool.Pool[struct{}], c pool.GroupConfig) *pool.Group {
	t.Helper()
	g, err := p.Group(c)
	require.NoError(t, err)
	return g
}

// Law: the first error calls the other members off, and is the only one; after Wait the group is
// as new.
func TestTheFirstErrorCallsTheOthersOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 4})
		g := newGroup(t, p, pool.GroupConfig{})
		own := errors.New("own")
		for round := range 2 {
			for range 3 {
				require.NoError(t, g.Go(t.Context(), func(ctx context.Context) error {
					<-ctx.Done()
					require.ErrorIs(t, context.Cause(ctx), own)
					return ctx.Err()
				}))
			}
			require.NoError(t, g.Go(t.Context(), func(context.Context) error { return own }, pool.Label("fourth")))
			synctest.Wait()
			err := g.Go(t.Context(), func(context.Context) error { t.Error("ran"); return nil })
			require.ErrorIs(t, err, own)
			e, _ := errors.AsType[*ioerr.Error](err)
			require.Equal(t, ioerr.Cancelled, e.Outcome)
			require.Equal(t, ioerr.None, e.Effect)
			err = g.Wait(t.Context())
			require.ErrorIs(t, err, own, round)
			require.NotErrorIs(t, err, context.Canceled)
			e, ok := errors.AsType[*ioerr.Error](err)
			require.True(t, ok)
			require.Equal(t, "fourth", e.Label)
			require.NoError(t, g.Wait(t.Context()))
		}
	})
}

// Law: with CollectAll all members run, and Wait has their errors, with their labels; of too
// many it has the number.
func TestCollectAllKeepsTheErrors(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 4})
	g := newGroup(t, p, pool.GroupConfig{CollectAll: true, Errors: 10})
	for i := range 15 {
		require.NoError(t, g.Go(t.Context(), func(context.Context) error {
			if i == 3 {
				panic(errors.New("panicked"))
			}
			return fmt.Errorf("error %d", i)
		}, pool.Label(fmt.Sprint("member ", i))))
		if i == 3 {
			require.NoError(t, g.Go(t.Context(), func(context.Context) error { return nil }))
		}
	}
	err := g.Wait(t.Context())
	all, ok := errors.AsType[*pool.GroupError](err)
	require.True(t, ok)
	require.Len(t, all.Errs, 10)
	require.Equal(t, 5, all.More)
	for _, err := range all.Errs {
		e, ok := errors.AsType[*ioerr.Error](err)
		require.True(t, ok)
		require.True(t, strings.HasPrefix(e.Label, "member "), e.Label)
	}
	require.Contains(t, err.Error(), "and 5 more errors")
	require.Equal(t, 10, strings.Count(err.Error(), "\n"))
}

// Law: a panic in a member fails the group and names the member.
func TestAPanicInAMemberFailsTheGroup(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	g := newGroup(t, p, pool.GroupConfig{})
	require.NoError(t, g.Go(t.Context(), func(context.Context) error { panic("ouch") }, pool.Label("the one")))
	err := g.Wait(t.Context())
	why, ok := errors.AsType[*ioerr.PanicError](err)
	require.True(t, ok)
	require.Equal(t, "ouch", why.Value)
	e, _ := errors.AsType[*ioerr.Error](err)
	require.Equal(t, "the one", e.Label)
	require.NoError(t, g.Go(t.Context(), func(context.Context) error { runtime.Goexit(); return nil }))
	require.ErrorIs(t, g.Wait(t.Context()), ioerr.ErrGoexit)
}

// Law: never more members run than Limit, and whoever waits for room does so in order and as long
// as its context lasts.
func TestLimitBoundsAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 8})
		g := newGroup(t, p, pool.GroupConfig{Limit: 2})
		gate := make(chan struct{})
		var running, most atomic.Int64
		member := func(context.Context) error {
			most.Store(max(most.Load(), running.Add(1)))
			<-gate
			running.Add(-1)
			return nil
		}
		for range 2 {
			require.NoError(t, g.Go(t.Context(), member))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := g.Go(ctx, member)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		e, _ := errors.AsType[*ioerr.Error](err)
		require.Equal(t, ioerr.None, e.Effect)
		close(gate)
		for range 100 {
			require.NoError(t, g.Go(t.Context(), member))
		}
		require.NoError(t, g.Wait(t.Context()))
		require.LessOrEqual(t, most.Load(), int64(2))
	})
}

// Law: members that make members do not wait for themselves, whatever the sizes.
func TestMembersOfMembersDoNotDeadlock(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		for _, limit := range []int{0, 1, 2} {
			p := ofWorkers(t, lane.Config{Workers: workers, Queue: 1, Waiters: lane.NoWaiters})
			g := newGroup(t, p, pool.GroupConfig{Limit: limit})
			var n atomic.Int64
			var tree func(depth int) func(context.Context) error
			tree = func(depth int) func(context.Context) error {
				return func(ctx context.Context) error {
					n.Add(1)
					if depth == 0 {
						return nil
					}
					return errors.Join(g.Go(ctx, tree(depth-1)), g.Go(ctx, tree(depth-1)))
				}
			}
			require.NoError(t, g.Go(t.Context(), tree(8)))
			require.NoError(t, g.Wait(t.Context()))
			require.EqualValues(t, 1<<9-1, n.Load())
			require.NoError(t, p.Close())
		}
	}
}

// Law: Wait of a member waits for itself, and is refused.
func TestWaitInsideAMemberIsRefused(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	g, other := newGroup(t, p, pool.GroupConfig{}), newGroup(t, p, pool.GroupConfig{})
	require.NoError(t, g.Go(t.Context(), func(ctx context.Context) error {
		return other.Go(ctx, func(ctx context.Context) error { return g.Wait(ctx) })
	}))
	require.NoError(t, g.Wait(t.Context()))
	require.ErrorIs(t, other.Wait(t.Context()), ioerr.ErrReentry)
}

// Law: when its context ends, Wait calls the members off and waits for their ends.
func TestWaitCallsOffAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 2})
		g := newGroup(t, p, pool.GroupConfig{})
		var ended atomic.Bool
		require.NoError(t, g.Go(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Minute)
			ended.Store(true)
			return nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := g.Wait(ctx)
		require.True(t, ended.Load())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		e, _ := errors.AsType[*ioerr.Error](err)
		require.Equal(t, ioerr.TimedOut, e.Outcome)
	})
}

// Law: to start members and to wait for them may race; each member belongs to one round.
func TestGoRacesWait(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 4})
	g := newGroup(t, p, pool.GroupConfig{CollectAll: true, Errors: 10_000})
	var failed atomic.Int64
	stop := make(chan struct{})
	seen := make(chan int)
	for range 2 {
		go func() {
			n := 0
			count := func() {
				err := g.Wait(t.Context())
				e, many := errors.AsType[*pool.GroupError](err)
				switch {
				case many:
					n += len(e.Errs)
				case err != nil:
					n++
				}
			}
			for {
				select {
				case <-stop:
					count()
					seen <- n
					return
				default:
					count()
				}
			}
		}()
	}
	own := errors.New("own")
	for i := range 3000 {
		require.NoError(t, g.Go(t.Context(), func(context.Context) error {
			if i%3 > 0 {
				return nil
			}
			failed.Add(1)
			return own
		}))
	}
	close(stop)
	require.Equal(t, 1000, <-seen+<-seen)
	require.EqualValues(t, 1000, failed.Load())
}

// Law: a group that is fed for ever does not grow.
func TestAGroupFedForEverDoesNotGrow(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 2})
	g := newGroup(t, p, pool.GroupConfig{CollectAll: true})
	feed := func(n int) uint64 {
		for range n {
			require.NoError(t, g.Go(t.Context(), func(context.Context) error { return errors.New("each its own") }))
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := feed(1000)
	require.Less(t, feed(50_000), before+1<<20)
	err, ok := errors.AsType[*pool.GroupError](g.Wait(t.Context()))
	require.True(t, ok)
	require.Equal(t, 51_000-64, err.More)
}

// Law: a group works on every lane.
func TestGroupsOnEveryLane(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		g := newGroup(t, p, pool.GroupConfig{CollectAll: true})
		var n atomic.Int64
		for range 100 {
			require.NoError(t, g.Go(t.Context(), func(ctx context.Context) error {
				n.Add(1)
				return g.Go(ctx, func(context.Context) error { n.Add(1); return nil })
			}))
			require.NoError(t, g.After(t.Context(), time.Millisecond, func(context.Context) error { n.Add(1); return nil }))
		}
		require.NoError(t, g.Wait(t.Context()))
		require.EqualValues(t, 300, n.Load())
		require.NoError(t, p.Close())
	})
}

// Bad input is told by name and value.
func TestGroupRefusesBadInput(t *testing.T) {
	p := ofWorkers(t, lane.Config{})
	for field, c := range map[string]pool.GroupConfig{"Limit": {Limit: -1}, "Errors": {Errors: -2}} {
		_, err := p.Group(c)
		e, ok := errors.AsType[*ioerr.ArgumentError](err)
		require.True(t, ok)
		require.Equal(t, "pool.GroupConfig."+field, e.Name)
	}
	_, err := new(pool.Pool[struct{}]).Group(pool.GroupConfig{})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	call := func(context.Context) error { return nil }
	var none context.Context
	for _, g := range []*pool.Group{new(pool.Group), newGroup(t, p, pool.GroupConfig{})} {
		require.ErrorIs(t, g.Go(none, call), ioerr.ErrInvalid)
		require.ErrorIs(t, g.Go(t.Context(), nil), ioerr.ErrInvalid)
		require.ErrorIs(t, g.After(none, 0, call), ioerr.ErrInvalid)
		require.ErrorIs(t, g.Wait(none), ioerr.ErrInvalid)
		g.Cancel(nil)
	}
}

// valued is a context whose Value calls somebody.
type valued struct {
	context.Context
	asked func()
}

func (c valued) Value(key any) any {
	c.asked()
	return c.Context.Value(key)
}

// named is a lane whose Name calls somebody.
type named struct {
	lane.Lane
	asked func()
}

func (l *named) Name() string {
	l.asked()
	return l.Lane.Name()
}

// Law: no code of others runs under the lock of a group: contexts and lanes may call it.
func TestNobodysCodeRunsUnderTheLockOfAGroup(t *testing.T) {
	var g *pool.Group
	var busy atomic.Bool
	cancel := func() {
		if g != nil && busy.CompareAndSwap(false, true) {
			g.Cancel(nil)
			busy.Store(false)
		}
	}
	inner, err := lane.NewThreads(lane.Config{Workers: 1})
	require.NoError(t, err)
	p, err := pool.New(pool.Config[struct{}]{Lane: &named{inner, cancel}, OwnsLane: true})
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g, _ = p.Group(pool.GroupConfig{Limit: 1})
		ctx := valued{context.Background(), cancel}
		for range 3 {
			_ = g.After(ctx, time.Hour, func(context.Context) error { return nil })
			_ = g.Go(ctx, func(context.Context) error { return errors.New("own") })
			g.Cancel(nil)
			_ = g.Wait(ctx)
		}
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("waits for itself")
	}
	require.NoError(t, p.Close())
}

// Law: who is a member no more waits for room like anybody else.
func TestTheContextOfAMemberThatHasEndedGivesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 4})
		g := newGroup(t, p, pool.GroupConfig{Limit: 1})
		var left context.Context
		require.NoError(t, g.Go(t.Context(), func(ctx context.Context) error {
			left = context.WithoutCancel(ctx) //nolint:fatcontext // kept on purpose
			return nil
		}))
		require.NoError(t, g.Wait(t.Context()))
		gate := make(chan struct{})
		var running, most atomic.Int64
		member := func(context.Context) error {
			most.Store(max(most.Load(), running.Add(1)))
			<-gate
			running.Add(-1)
			return nil
		}
		require.NoError(t, g.Go(t.Context(), member))
		began := make(chan error, 1)
		go func() { began <- g.Go(left, member) }()
		synctest.Wait()
		require.EqualValues(t, 1, most.Load())
		close(gate)
		require.NoError(t, <-began)
		require.NoError(t, g.Wait(t.Context()))
		require.EqualValues(t, 1, most.Load())
	})
}
