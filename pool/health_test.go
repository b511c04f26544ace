package pool_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

var errIO = errors.New("input/output error")

// log collects the events of a pool.
type log struct {
	mu  sync.Mutex
	all []pool.Event
}

func (l *log) add(e pool.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

// take returns what has been collected, and forgets it.
func (l *log) take() []pool.Event {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// kinds are the kinds of some events.
func kinds(events []pool.Event) []pool.EventKind {
	var k []pool.EventKind
	for _, e := range events {
		k = append(k, e.Kind)
	}
	return k
}

// unfit checks the refusal of a resource that is not fit for use.
func unfit(t *testing.T, err error, what, cause error) {
	t.Helper()
	e := typed(t, err)
	if e == nil {
		t.Fatal("no error")
	}
	u, ok := errors.AsType[*ioerr.UnfitError](err)
	if !ok || !errors.Is(err, what) || !errors.Is(err, cause) || u.Err != what || e.Effect != ioerr.None || e.Origin != ioerr.Handle || e.Outcome != ioerr.Failed {
		t.Errorf("%#v: %v", e, err)
	}
}

func fails(err error) func(context.Context, int) error {
	return func(context.Context, int) error { return err }
}

func takes(d time.Duration) func(context.Context, int) error {
	return func(context.Context, int) error { time.Sleep(d); return nil }
}

// Law: bad calls in a row take a handle down, others are not concerned; probes bring it
// back.
func TestBadCallsInARowTakeAHandleDown(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		var l log
		var broken atomic.Bool
		var checks atomic.Int32
		p := on(g, pool.Config[int]{
			OnEvent: l.add,
			Health:  pool.HealthRules{Bad: func(err error) bool { return errors.Is(err, errIO) }, Down: 2, Probe: time.Second},
			Check: func(r int) error {
				checks.Add(1)
				if r != 1 {
					t.Errorf("%d is checked", r)
				}
				if broken.Load() {
					return errIO
				}
				return nil
			},
		})
		id, other := adopt(t, p, 1), adopt(t, p, 2)
		ask := func(err error) error { return p.With(bg, id, fails(err)) }

		require.ErrorIs(t, ask(errIO), errIO)
		require.Equal(t, pool.Suspect, p.Health(id))
		require.NoError(t, ask(nil))
		require.Equal(t, pool.Healthy, p.Health(id))
		require.ErrorIs(t, ask(errIO), errIO)
		require.ErrorIs(t, ask(context.Canceled), context.Canceled) // speaks for it
		require.Equal(t, pool.Healthy, p.Health(id))
		require.Equal(t, []pool.EventKind{pool.HealthChanged, pool.HealthChanged, pool.HealthChanged, pool.HealthChanged}, kinds(l.take()))

		broken.Store(true)
		require.ErrorIs(t, ask(errIO), errIO)
		waiting := start(func() error {
			return p.With(bg, id, func(context.Context, int) error { time.Sleep(time.Millisecond); return errIO })
		})
		waits(t, waiting)
		behind := start(func() error { return ask(nil) })
		waits(t, behind)
		time.Sleep(time.Millisecond)
		require.ErrorIs(t, ended(t, waiting), errIO)
		unfit(t, ended(t, behind), ioerr.ErrHandleDown, errIO)
		unfit(t, ask(nil), ioerr.ErrHandleDown, errIO)
		unfit(t, p.With(bg, id, fails(nil), pool.FailFast), ioerr.ErrHandleDown, errIO)
		require.Equal(t, pool.Down, p.Health(id))
		require.True(t, p.Has(id))
		require.NoError(t, p.With(bg, other, fails(nil)))
		require.Equal(t, 1, p.Stats().Unwell)

		time.Sleep(10 * time.Second)
		if n := checks.Load(); n < 6 || n > 20 { // 0.5 to 1.5 s apart
			t.Errorf("%d probes in 10 s", n)
		}
		unfit(t, ask(nil), ioerr.ErrHandleDown, errIO)
		broken.Store(false)
		time.Sleep(1500 * time.Millisecond)
		require.Equal(t, pool.Healthy, p.Health(id))
		require.NoError(t, ask(nil))
		events := l.take()
		require.Equal(t, []pool.EventKind{pool.HealthChanged, pool.HealthChanged, pool.HealthChanged}, kinds(events))
		require.Equal(t, []pool.Health{pool.Suspect, pool.Down, pool.Healthy}, []pool.Health{events[0].Health, events[1].Health, events[2].Health})
		require.Equal(t, id, events[1].Call.Handle)
		closes(t, p)
	})
}

// Law: health goes by service time. A resource behind a long queue stays healthy; a slow
// one becomes suspect, goes down, and comes back by itself.
func TestHealthGoesByServiceTime(t *testing.T) {
	everywhere(t, need{gated: true}, lane.Config{Workers: 1}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("which calls wait depends on the shard")
		}
		var slow atomic.Int64
		slow.Store(int64(2 * time.Second))
		p := on(g, pool.Config[int]{Waiters: 100,
			Health: pool.HealthRules{Slow: time.Second, Down: 3},
			Check:  func(int) error { time.Sleep(time.Duration(slow.Load())); return nil },
		})
		id := adopt(t, p, 1)
		var crowd []<-chan error
		for range 100 { // ten seconds of it
			crowd = append(crowd, start(func() error { return p.With(bg, id, takes(100*time.Millisecond)) }))
			synctest.Wait()
		}
		for _, c := range crowd {
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if h := p.Health(id); h != pool.Healthy {
				t.Fatal(h)
			}
			require.NoError(t, ended(t, c))
		}
		for i := range 3 {
			require.Equal(t, []pool.Health{pool.Healthy, pool.Suspect, pool.Suspect}[i], p.Health(id))
			require.NoError(t, p.With(bg, id, takes(2*time.Second)))
		}
		err := p.With(bg, id, takes(0))
		var tooSlow *ioerr.SlowError
		if !errors.As(err, &tooSlow) || tooSlow.Took != 2*time.Second || tooSlow.Limit != time.Second {
			t.Errorf("%v", err)
		}
		time.Sleep(20 * time.Second) // the probes are too slow
		require.ErrorIs(t, p.With(bg, id, takes(0)), ioerr.ErrHandleDown)
		slow.Store(0)
		time.Sleep(4 * time.Second)
		require.NoError(t, p.With(bg, id, takes(0)))
		closes(t, p)
	})
}

// Law: without Check the next call is the probe.
func TestWithoutCheckTheNextCallIsTheProbe(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 3, Probe: time.Second}})
		id := adopt(t, p, 1)
		for range 3 {
			require.ErrorIs(t, p.With(bg, id, fails(errIO)), errIO)
		}
		unfit(t, p.With(bg, id, fails(nil)), ioerr.ErrHandleDown, errIO)
		time.Sleep(2 * time.Second)
		require.Equal(t, pool.Suspect, p.Health(id))
		require.ErrorIs(t, p.With(bg, id, fails(errIO)), errIO)
		unfit(t, p.With(bg, id, fails(nil)), ioerr.ErrHandleDown, errIO)
		time.Sleep(2 * time.Second)
		require.NoError(t, p.With(bg, id, fails(nil)))
		require.Equal(t, pool.Healthy, p.Health(id))
		require.Zero(t, p.Stats().Unwell)
		closes(t, p)
	})
}

// Law: a call that runs for too long bars its handle while it runs, whatever the lane;
// then the resource is probed.
func TestACallThatIsStuckBarsItsHandle(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Stuck: time.Minute}, Check: func(int) error { return nil }})
		id := adopt(t, p, 1)
		gate := newGate()
		stuck := start(func() error { return p.With(bg, id, hold[int](gate), pool.Label("read")) })
		waits(t, stuck)
		behind := start(func() error { return p.With(bg, id, fails(nil)) })
		time.Sleep(time.Minute - time.Millisecond)
		waits(t, behind)
		time.Sleep(time.Millisecond)
		for _, err := range []error{ended(t, behind), p.With(bg, id, fails(nil))} {
			e, ok := errors.AsType[*ioerr.StuckError](err)
			if !ok || e.Label != "read" || e.Age != time.Minute || !errors.Is(err, ioerr.ErrHandleBusy) {
				t.Errorf("%v", err)
			}
		}
		require.Equal(t, pool.Down, p.Health(id))
		gate.open()
		require.NoError(t, ended(t, stuck))
		synctest.Wait()
		require.Equal(t, pool.Healthy, p.Health(id))
		require.NoError(t, p.With(bg, id, fails(nil)))
		closes(t, p)
	})
}

// Law: a call that was left takes its handle down until it ends and a probe succeeds.
func TestALeftCallTakesItsHandleDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		var well atomic.Bool
		p := leaving(t, pool.Config[int]{OnEvent: l.add,
			Health: pool.HealthRules{Slow: time.Hour, Probe: time.Second},
			Check: func(int) error {
				if well.Load() {
					return nil
				}
				return errIO
			},
		}, lane.AbandoningConfig{})
		id := adopt(t, p, 1)
		gate := newGate()
		require.ErrorIs(t, second(pool.OffloadOn(within(t, time.Second), p, id, func(ctx context.Context, _ int) (int, error) { return 0, gate.pass(ctx) })), ioerr.ErrLeft)
		require.Equal(t, pool.Down, p.Health(id))
		if _, ok := errors.AsType[*ioerr.StuckError](p.With(bg, id, fails(nil))); !ok {
			t.Error("not refused as stuck")
		}
		gate.open()
		synctest.Wait()
		unfit(t, p.With(bg, id, fails(nil)), ioerr.ErrHandleDown, errIO)
		well.Store(true)
		time.Sleep(2 * time.Second)
		require.NoError(t, p.With(bg, id, fails(nil)))
		require.Equal(t, []pool.EventKind{pool.CallLeft, pool.HealthChanged, pool.LateEnd, pool.HealthChanged}, kinds(l.take()))
		closes(t, p)
	})
}
