package pool_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// sheet is a resource that many may use at a time, and that notices a use after its
// disposal.
type sheet struct {
	t        testing.TB
	inUse    atomic.Int32
	most     atomic.Int32
	disposed atomic.Int32
}

func (s *sheet) dispose() error {
	if n := s.disposed.Add(1); n != 1 {
		s.t.Errorf("disposed of %d times", n)
	}
	if n := s.inUse.Load(); n != 0 {
		s.t.Errorf("disposed of while %d use it", n)
	}
	return nil
}

// use is a transaction that does fn meanwhile.
func use(fn func(context.Context) error) func(context.Context, *sheet) error {
	return func(ctx context.Context, s *sheet) error {
		n := s.inUse.Add(1)
		for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
		}
		defer s.inUse.Add(-1)
		if s.disposed.Load() != 0 {
			s.t.Error("used after its disposal")
		}
		return fn(ctx)
	}
}

func shared(share int) pool.Config[*sheet] {
	return pool.Config[*sheet]{Share: share, Dispose: (*sheet).dispose, Patience: -1}
}

// Law: a resource has as many users at a time as shares, and those that wait are served
// in order.
func TestAResourceHasAsManyUsersAsShares(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 8}, func(t *testing.T, g *ground) {
		p := on(g, shared(3))
		r := &sheet{t: t}
		id, err := p.Register(bg, func(context.Context) (*sheet, error) { return r, nil })
		require.NoError(t, err)
		gates := []*gate{newGate(), newGate(), newGate()}
		var users []<-chan error
		for _, at := range gates {
			users = append(users, start(func() error { return p.With(bg, id, use(at.pass)) }))
			at.await(t, 1)
		}
		is(t, p.With(bg, id, use(nothing), pool.FailFast), ioerr.ErrHandleBusy)
		first, second := newGate(), newGate()
		a := start(func() error { return p.With(bg, id, use(first.pass)) })
		waits(t, a)
		b := start(func() error { return p.With(bg, id, use(second.pass)) })
		waits(t, b)
		gates[1].open()
		first.await(t, 1)
		waits(t, b)
		for _, at := range []*gate{first, second, gates[0], gates[2]} {
			at.open()
		}
		for _, c := range append(users, a, b) {
			succeeds(t, ended(t, c))
		}
		if n := r.most.Load(); n != 3 {
			t.Errorf("%d users at a time", n)
		}
		closes(t, p)
		require.EqualValues(t, 1, r.disposed.Load())
	})
}

// Law: the resource is disposed of when the last share has been given back.
func TestASharedResourceIsDisposedOfWithItsLastShare(t *testing.T) {
	for name, end := range map[string]func(p *pool.Pool[*sheet], id handle.ID) error{
		"Destroy":  func(p *pool.Pool[*sheet], id handle.ID) error { return p.Destroy(bg, id) },
		"Shutdown": func(p *pool.Pool[*sheet], _ handle.ID) error { return p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
				p := on(g, shared(4))
				r := &sheet{t: t}
				id := adopt(t, p, r)
				a, b := newGate(), newGate()
				inA := start(func() error { return p.With(bg, id, use(a.pass)) })
				inB := start(func() error { return p.With(bg, id, use(b.pass)) })
				a.await(t, 1)
				b.await(t, 1)
				over := start(func() error { return end(p, id) })
				waits(t, over)
				require.Error(t, p.With(bg, id, use(nothing)))
				a.open()
				succeeds(t, ended(t, inA))
				waits(t, over)
				require.Zero(t, r.disposed.Load())
				b.open()
				succeeds(t, ended(t, inB))
				succeeds(t, ended(t, over))
				require.EqualValues(t, 1, r.disposed.Load())
				closes(t, p)
			})
		})
	}
}

// Law: who poisons a shared resource keeps newcomers and waiters off; others who use it
// run to their end; it can be destroyed, once.
func TestPoisonAmongSharers(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 8}, func(t *testing.T, g *ground) {
		p := on(g, shared(3))
		r := &sheet{t: t}
		id := adopt(t, p, r)
		other, again := newGate(), newGate()
		inOther := start(func() error { return p.With(bg, id, use(other.pass)) })
		inAgain := start(func() error {
			return p.With(bg, id, use(func(context.Context) error { again.stay(); return pool.Poison(errors.New("later")) }))
		})
		other.await(t, 1)
		again.await(t, 1)
		bad := newGate()
		inBad := start(func() error {
			return p.With(bg, id, use(func(context.Context) error { bad.stay(); return pool.Poison(errIO) }))
		})
		bad.await(t, 1)
		waiter := start(func() error { return p.With(bg, id, use(nothing)) })
		waits(t, waiter)
		bad.open()
		is(t, ended(t, inBad), errIO)
		refused := func(err error) {
			t.Helper()
			is(t, err, ioerr.ErrPoisoned)
			unfit, ok := errors.AsType[*ioerr.UnfitError](err)
			if !ok || !errors.Is(unfit.Cause, errIO) {
				t.Errorf("%v", err)
			}
		}
		refused(ended(t, waiter))
		refused(p.With(bg, id, use(nothing)))
		waits(t, inOther)
		again.open() // poisons it again: the first cause stays
		require.Error(t, ended(t, inAgain))
		refused(p.With(bg, id, use(nothing)))
		if h := p.Health(id); h != pool.Poisoned || p.Stats().Unwell != 1 {
			t.Errorf("%v, %+v", h, p.Stats())
		}
		gone := start(func() error { return p.Destroy(bg, id) })
		waits(t, gone)
		require.ErrorIs(t, p.With(bg, id, use(nothing)), ioerr.ErrHandleNotFound)
		other.open()
		succeeds(t, ended(t, inOther))
		succeeds(t, ended(t, gone))
		if n := r.disposed.Load(); n != 1 || p.Stats().Unwell != 0 {
			t.Errorf("disposed of %d times, %+v", n, p.Stats())
		}
		closes(t, p)
	})
}

// Law: what is for exclusive use is refused for resources with shares.
func TestSharesAreNotForWhatNeedsExclusiveUse(t *testing.T) {
	for field, c := range map[string]pool.Config[int]{
		"Share":     {Share: -1},
		"Interrupt": {Share: 2, Interrupt: func(int) {}},
		"Check":     {Share: 2, Check: func(int) error { return nil }, Health: pool.HealthRules{Down: 1}},
		"Health":    {Share: 2, Health: pool.HealthRules{Slow: time.Second}},
	} {
		_, err := pool.New(c)
		bad, ok := errors.AsType[*ioerr.ArgumentError](err)
		if !ok || bad.Name != "pool.Config."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err := pool.New(pool.Config[int]{Share: 1 << 16})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	p := makePool(t, pool.Config[int]{Share: 1<<16 - 1})
	id := adopt(t, p, 1)
	err = p.Replace(bg, id, func(context.Context, int) (int, error) { t.Error("ran"); return 2, nil })
	is(t, err, ioerr.ErrUnsupported)
	is(t, err, errors.ErrUnsupported)
	succeeds(t, p.With(bg, id, leave))
	if n := p.Stats().Failed; n != 1 {
		t.Errorf("%d failed", n)
	}
	closes(t, p)
}

// Law: a call that was left keeps its share, and no other.
func TestACallThatIsLeftKeepsItsShareOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, shared(3), lane.AbandoningConfig{LeftPerHandle: 2})
		r := &sheet{t: t}
		id := adopt(t, p, r)
		g := newGate()
		for range 2 {
			isLeft(t, p.OffloadOn(within(t, time.Second), id, use(g.pass)), "")
		}
		is(t, p.OffloadOn(bg, id, use(nothing)), ioerr.ErrHandleBusy) // by the lane
		require.Equal(t, pool.Healthy, p.Health(id))
		detached := start(func() error { return p.Detach(id) })
		succeeds(t, ended(t, detached))
		require.Zero(t, r.disposed.Load())
		g.open()
		synctest.Wait()
		require.EqualValues(t, 1, r.disposed.Load())
		closes(t, p)
	})
}

// Law: who asks is told how many hold a resource.
func TestHoldersOfASharedResourceAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := shared(8)
		c.Threads = lane.Config{Workers: 4}
		p := makePool(t, c)
		id := adopt(t, p, &sheet{t: t})
		g := newGate()
		spawn(t, func() error { return p.With(bg, id, use(g.pass), pool.Label("a")) })
		spawn(t, func() error { return p.With(bg, id, use(g.pass)) })
		spawn(t, func() error { return p.With(bg, id, use(g.pass)) })
		g.await(t, 3)
		var b strings.Builder
		require.NoError(t, p.Dump(&b))
		if !strings.Contains(b.String(), "held by 3 calls") {
			t.Error(b.String())
		}
		report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
		if !ok || len(report.Running) != 3 || report.Others != 0 {
			t.Errorf("%+v", report)
		}
		g.open()
		closes(t, p)
	})
}

// Law: a call inside another one on the same resource takes a share that is free, and does
// not wait for one.
func TestANestedCallTakesAFreeShare(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, shared(2))
		id := adopt(t, p, &sheet{t: t})
		succeeds(t, p.With(bg, id, use(func(ctx context.Context) error {
			return p.With(ctx, id, use(func(ctx context.Context) error {
				is(t, p.With(ctx, id, use(nothing)), ioerr.ErrReentry)
				return nil
			}))
		})))
		closes(t, p)
	})
}

// Law: whatever comes together, each resource is disposed of once, and after its last use.
func TestSharersStorm(t *testing.T) {
	for range rounds(30, 1000) {
		p := makePool(t, pool.Config[*sheet]{Share: 4, Dispose: (*sheet).dispose, Threads: lane.Config{Workers: 4}})
		r := &sheet{t: t}
		id := adopt(t, p, r)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for j := range 20 {
					ignore(p.With(bg, id, use(func(context.Context) error {
						if i < 2 && j == 10 {
							return pool.Poison(errIO)
						}
						return nil
					})))
				}
			})
		}
		wg.Go(func() { succeeds(t, p.Destroy(bg, id)) })
		wg.Wait()
		if n := p.Stats().Unwell; n != 0 {
			t.Errorf("%d unwell", n)
		}
		closes(t, p)
		require.EqualValues(t, 1, r.disposed.Load())
	}
}
