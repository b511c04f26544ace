package pool_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
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

// Faults that people have met with calls that never return; docs/faults.md names the
// reports.

// abandons makes a pool on an Abandoning lane with these rules; its callers leave as
// soon as their contexts end, unless the rules say otherwise.
func abandons[R any](t testing.TB, c pool.Config[R], a lane.AbandoningConfig) (*pool.Pool[R], *lane.Abandoning) {
	t.Helper()
	if a.Grace == 0 {
		a.Grace = lane.NoGrace
	}
	a.Name = laneName
	l, err := lane.NewAbandoning(a)
	require.NoError(t, err)
	c.Lane, c.OwnsLane = l, true
	return makePool(t, c), l
}

// ask uses a resource, of which the dead one stays at a gate.
func ask(t testing.TB, p *pool.Pool[*gate], id handle.ID, patience time.Duration, opts ...pool.Option) error {
	return second(pool.OffloadOn(within(t, patience), p, id, func(_ context.Context, g *gate) (int, error) {
		if g != nil {
			g.stay()
		}
		return 0, nil
	}, opts...))
}

// wasLeft tells a call that was left.
func wasLeft(err error) bool { return errors.Is(err, ioerr.ErrLeft) }

// One dead volume of ten, and the loop that looks after all of them stands still.
func TestALoopOverTenResourcesPassesTheDeadOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := abandons(t, pool.Config[*gate]{}, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
		dead := newGate()
		ids := []handle.ID{adopt(t, p, dead)}
		for range 9 {
			ids = append(ids, adopt[*gate](t, p, nil))
		}
		for round, took := range []time.Duration{50 * time.Millisecond, 0, 0} {
			began := time.Now()
			for i, id := range ids {
				err := ask(t, p, id, 50*time.Millisecond, pool.Label("stat"))
				switch {
				case i > 0:
					succeeds(t, err)
				case round == 0:
					isLeft(t, err, "stat")
				default:
					is(t, err, ioerr.ErrHandleBusy)
				}
			}
			if d := time.Since(began); d != took {
				t.Errorf("round %d took %v, want %v", round, d, took)
			}
		}
		dead.open()
		synctest.Wait()
		succeeds(t, ask(t, p, ids[0], 50*time.Millisecond))
		closes(t, p)
	})
}

// Each look at a dead mount leaves one more call behind, until the process dies of them.
func TestAThousandCallsOnADeadResourceLeaveOneBehind(t *testing.T) {
	for name, opts := range map[string][]pool.Option{"handle": {pool.Label("stat")}, "key": {pool.Label("stat"), pool.Key("/mnt")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, l := abandons(t, pool.Config[int]{}, lane.AbandoningConfig{Config: lane.Config{Workers: 8, PerKey: 1}})
				id := adopt(t, p, 1)
				dead := newGate()
				var times atomic.Int64
				call := func() error {
					stat := func(ctx context.Context) (int, error) { times.Add(1); return 0, dead.pass(ctx) }
					if name == "key" {
						return second(pool.Offload(within(t, 20*time.Millisecond), p, stat, opts...))
					}
					return second(pool.OffloadOn(within(t, 20*time.Millisecond), p, id, func(ctx context.Context, _ int) (int, error) { return stat(ctx) }, opts...))
				}
				base := runtime.NumGoroutine()
				left := 0
				for range 10 { // at the same time, and one lot after another
					var calls []<-chan error
					for range 100 {
						calls = append(calls, start(call))
					}
					time.Sleep(20 * time.Millisecond)
					for _, c := range calls {
						err := ended(t, c)
						if wasLeft(err) {
							left++
						} else if e := typed(t, err); e == nil || e.Effect != ioerr.None {
							t.Errorf("%v, want a refusal", err)
						}
					}
					settles(t, base+1)
				}
				if s := l.Stats(); left != 1 || times.Load() != 1 || len(s.Left) != 1 || s.LeftTotal != 1 || s.Running+s.Queued+s.Waiting != 0 {
					t.Errorf("%d left, %d ran; %+v", left, times.Load(), s)
				}
				dead.open()
				synctest.Wait()
				succeeds(t, call())
				closes(t, p)
			})
		})
	}
}

// Deadlines are refused for regular files, or end the call with a word that says nothing
// of what it has done.
func TestACallOnAFileThatOutlivesItsDeadlineMayHaveHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "x")
		p, _ := abandons(t, pool.Config[*os.File]{Dispose: (*os.File).Close}, lane.AbandoningConfig{})
		id, err := p.Register(bg, func(context.Context) (*os.File, error) { return os.Create(name) })
		require.NoError(t, err)
		succeeds(t, p.With(bg, id, func(_ context.Context, f *os.File) error {
			if err := f.SetDeadline(time.Now().Add(time.Hour)); !errors.Is(err, os.ErrNoDeadline) {
				t.Errorf("a file with deadlines: %v", err)
			}
			return nil
		}))
		slow := newGate()
		began := time.Now()
		n, err := pool.OffloadOn(within(t, 30*time.Millisecond), p, id, func(_ context.Context, f *os.File) (int, error) {
			slow.stay()
			return io.WriteString(f, "written")
		}, pool.Label("write"))
		if d := time.Since(began); d != 30*time.Millisecond || n != 0 {
			t.Errorf("%d after %v", n, d)
		}
		isLeft(t, err, "write") // with Effect Unknown
		if errors.Is(err, os.ErrNoDeadline) || errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		slow.open()
		closes(t, p)
		if got, err := os.ReadFile(name); err != nil || string(got) != "written" {
			t.Errorf("%q, %v: it did happen", got, err)
		}
	})
}

// What finishes after its caller has gone blocks for good on a channel that nobody
// reads; so do ten thousand of them.
func TestTenThousandLateCallsLeaveNothingBehind(t *testing.T) {
	const workers, budget, lots = 100, 100, 50
	synctest.Test(t, func(t *testing.T) {
		var late atomic.Int64
		p, l := abandons(t, pool.Config[int]{}, lane.AbandoningConfig{
			Config: lane.Config{Workers: workers}, Left: budget,
			OnLate: func(lane.LeftCall) { late.Add(1) },
		})
		base := runtime.NumGoroutine()
		undone := make([]atomic.Int32, lots*(workers+budget))
		call := func(ctx context.Context, i int, g *gate) error {
			opts := []pool.Option{pool.Undo(func(i int) error { undone[i].Add(1); return nil })}
			if i%4 == 3 {
				opts = nil // its result is dropped
			}
			return second(pool.Offload(ctx, p, func(context.Context) (int, error) {
				<-g.opened
				switch i % 4 {
				case 1:
					return i, io.ErrUnexpectedEOF
				case 2:
					panic("late")
				}
				return i, nil
			}, opts...))
		}
		for lot := range lots {
			g := newGate()
			for half := range 2 { // first the budget is used up, then the slots
				ctx, cancel := context.WithTimeout(bg, time.Second)
				var calls []<-chan error
				for k := range workers {
					calls = append(calls, start(func() error { return call(ctx, (2*lot+half)*workers+k, g) }))
				}
				synctest.Wait()
				time.Sleep(time.Second)
				for _, c := range calls {
					isLeft(t, ended(t, c), "")
				}
				cancel()
			}
			if s := l.Stats(); len(s.Left) != workers+budget || s.Running != workers {
				t.Fatalf("%d are left, %d slots taken", len(s.Left), s.Running)
			}
			g.open()
			synctest.Wait()
			settles(t, base)
		}
		for i := range undone {
			want := int32(0)
			if i%4 == 0 {
				want = 1
			}
			if got := undone[i].Load(); got != want {
				t.Fatalf("result %d was undone %d times, want %d", i, got, want)
			}
		}
		if s := l.Stats(); late.Load() != int64(len(undone)) || s.LeftTotal != uint64(len(undone)) || len(s.Left) != 0 || s.Running != 0 || s.Started != s.Completed {
			t.Errorf("%d told of; %+v", late.Load(), s)
		}
		closes(t, p)
	})
}

// After the cancel a call gets a second, short time, to end by itself; what it says then
// is its result.
func TestACallThatEndsWithinTheGraceIsReceived(t *testing.T) {
	const limit, grace = 50 * time.Millisecond, 100 * time.Millisecond
	for name, test := range map[string]struct {
		config lane.AbandoningConfig
		cancel bool
		cause  error
	}{
		"cancel": {lane.AbandoningConfig{Grace: grace}, true, context.Canceled},
		"limit":  {lane.AbandoningConfig{Grace: grace, CallLimit: limit}, false, ioerr.ErrCallLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := abandons(t, pool.Config[int]{}, test.config)
				call := func(obeys bool) (v int, took time.Duration, err error) {
					ctx, cancel := context.WithCancel(bg)
					defer cancel()
					if test.cancel {
						time.AfterFunc(limit, cancel)
					}
					began := time.Now()
					v, err = pool.Offload(ctx, p, func(ctx context.Context) (int, error) {
						if <-ctx.Done(); !errors.Is(context.Cause(ctx), test.cause) {
							t.Errorf("the cause is %v", context.Cause(ctx))
						}
						if obeys {
							time.Sleep(30 * time.Millisecond)
						} else {
							time.Sleep(time.Hour)
						}
						return 42, nil
					})
					return v, time.Since(began), err
				}
				if v, took, err := call(true); v != 42 || err != nil || took != 80*time.Millisecond {
					t.Errorf("%d, %v after %v, want the result after 80ms", v, err, took)
				}
				v, took, err := call(false)
				if left, ok := errors.AsType[*ioerr.LeftError](err); v != 0 || !ok || left.Age != limit+grace || took != limit+grace {
					t.Errorf("%d, %v after %v, want it left after 150ms", v, err, took)
				}
				closes(t, p)
			})
		})
	}
}
