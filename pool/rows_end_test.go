package pool_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// More faults that people have met when a pool was shut down, or was not; docs/faults.md
// names the reports.

// downs shuts a pool down that cannot come to its end in that time, and returns what the
// report says, without ages.
func downs[R any](t *testing.T, p *pool.Pool[R], patience time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, patience)
	defer cancel()
	began := time.Now()
	err := p.Shutdown(ctx)
	report, ok := errors.AsType[*pool.Report](err)
	if d := time.Since(began); d != patience || !ok || !errors.Is(err, context.DeadlineExceeded) || typed(t, err).Effect != ioerr.Unknown {
		t.Fatalf("after %v: %v", d, err)
	}
	var text strings.Builder
	for _, c := range report.Running {
		fmt.Fprintf(&text, "%s %v, ", c.Label, c.Handle)
	}
	slices.SortFunc(report.Undisposed, func(a, b handle.ID) int { return cmp.Compare(a.Uint64(), b.Uint64()) })
	fmt.Fprint(&text, report.Others, report.Undisposed, report.Failed, report.FailedTotal)
	return text.String()
}

// The way out asks what is stuck: the hook that closes, the log that is on the same disk.
func TestShutdownReturnsInTimeWhateverHooksDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks, never := newGate(), newGate()
		var p *pool.Pool[int]
		var l *lane.Abandoning
		// Each hook looks at everything first, which would end in a deadlock under a lock.
		stuck := func() error {
			if s := p.Stats(); s.Lane.Name != l.Stats().Name || p.Has(noID) {
				t.Errorf("%+v", s)
			}
			hooks.stay()
			return nil
		}
		p, l = abandons(t, pool.Config[int]{Dispose: func(int) error { return stuck() }}, lane.AbandoningConfig{
			Config: lane.Config{Workers: 4, OnEvent: func(lane.Event) { _ = stuck() }},
			OnLate: func(lane.LeftCall) { _ = stuck() },
		})
		late := newGate()
		for label, opts := range map[string][]pool.Option{
			"told of late": {pool.Label("told of late")},
			"undone":       {pool.Label("undone"), pool.Undo(func(int) error { return stuck() })},
		} {
			isLeft(t, second(pool.Offload(within(t, time.Second), p, func(ctx context.Context) (int, error) { return 0, late.pass(ctx) }, opts...)), label)
		}
		late.open()
		hooks.await(t, 2) // OnLate and Undo
		id := adopt(t, p, 1)
		isLeft(t, second(pool.OffloadOn(within(t, time.Second), p, id, func(ctx context.Context, _ int) (int, error) { return 0, never.pass(ctx) }, pool.Label("never"))), "never")
		g := newGate()
		var calls []<-chan error
		for range 5 { // the last has to wait, which is an event
			calls = append(calls, start(func() error { return p.Do(bg, g.pass) }))
			synctest.Wait()
		}
		hooks.await(t, 1)
		g.open()
		for _, c := range calls {
			succeeds(t, ended(t, c))
		}
		is(t, p.Destroy(within(t, time.Second), adopt(t, p, 2)), context.DeadlineExceeded)
		hooks.await(t, 1) // Dispose

		first := downs(t, p, 100*time.Millisecond)
		for range 3 {
			if again := downs(t, p, 100*time.Millisecond); again != first {
				t.Errorf("the report is now %s, and was %s", again, first)
			}
		}
		if !strings.Contains(first, "never "+id.String()) || !strings.Contains(first, "undone") {
			t.Errorf("the report is %s", first)
		}
		hooks.open()
		never.open()
		closes(t, p)
	})
}

// What waits for a call that never returns costs a little more each time, closes what the
// call uses, or forgets those who wait with it.
func TestAThousandShutdownsBesideACallThatNeverReturnsCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		p, _ := abandons(t, pool.Config[*thing]{Dispose: shop.dispose}, lane.AbandoningConfig{Config: lane.Config{Workers: 1, Queue: 4}, Left: 1})
		never := newGate()
		id := adopt(t, p, shop.make())
		hang := func(ctx context.Context, r *thing) (int, error) {
			r.use()
			defer r.done()
			return 0, never.pass(ctx)
		}
		isLeft(t, second(pool.OffloadOn(within(t, time.Second), p, id, hang, pool.Label("never"))), "never")
		holds := start(func() error {
			return second(pool.Offload(bg, p, func(ctx context.Context) (int, error) { return 0, never.pass(ctx) }))
		})
		waits(t, holds)
		ctx, cancel := context.WithCancel(bg)
		queued := start(func() error { return p.Do(ctx, nothing) })
		waits(t, queued)
		downs(t, p, time.Second)
		if w := typed(t, ended(t, holds)); w.Outcome != ioerr.ShutdownInProgress || !wasLeft(w) { // its slot goes to no one: the budget is used up
			t.Errorf("%v", w)
		}
		cancel()
		if e := typed(t, ended(t, queued)); e.Effect != ioerr.None {
			t.Errorf("%v", e)
		}
		measure := func() (heap uint64, goroutines int) {
			for range 2 { // the second for what a sync.Pool has kept
				runtime.GC()
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc, runtime.NumGoroutine()
		}
		for range 10 {
			downs(t, p, time.Second)
		}
		first := downs(t, p, time.Second)
		before, base := measure()
		for range 1000 {
			if again := downs(t, p, time.Second); again != first {
				t.Fatalf("the report is now %s, and was %s", again, first)
			}
		}
		after, now := measure()
		if grown := int64(after) - int64(before); grown > 64<<10 || now > base {
			t.Errorf("a thousand calls of Shutdown take %d bytes, %d goroutines", grown, now-base)
		}
		if _, disposed := shop.count(); disposed != 0 {
			t.Error("the resource is disposed of while in use")
		}
		never.open()
		closes(t, p)
		shop.allBack()
	})
}

// "All is written" is said before it is.
func TestAShutdownWithoutAnErrorMeansThatEveryWriteHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		p, _ := abandons(t, pool.Config[int]{}, lane.AbandoningConfig{Config: lane.Config{Workers: 4, Queue: 100}})
		slow := newGate()
		var received, left atomic.Int64
		ctx := within(t, time.Second)
		var calls []<-chan error
		for i := range 40 {
			calls = append(calls, start(func() error {
				name := filepath.Join(dir, fmt.Sprint(i))
				err := second(pool.Offload(ctx, p, func(context.Context) (int, error) {
					if i%10 == 0 {
						slow.stay()
					}
					return 0, os.WriteFile(name, []byte("x"), 0o600)
				}))
				if err == nil { // then it is there
					received.Add(1)
					if _, err := os.Stat(name); err != nil {
						t.Error(err)
					}
				} else if wasLeft(err) {
					left.Add(1)
				}
				return err
			}))
		}
		slow.await(t, 1)
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		down := start(p.Close)
		waits(t, down)
		slow.open()
		succeeds(t, ended(t, down))
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		if left.Load() == 0 || int64(len(files)) != received.Load()+left.Load() {
			t.Errorf("%d files are written; %d received, %d left", len(files), received.Load(), left.Load())
		}
		for _, c := range calls {
			_ = ended(t, c)
		}
	})
}

// A pool that nobody shuts down stays in memory, with its threads.
func TestAForgottenPoolIsCollected(t *testing.T) {
	for _, pl := range places {
		if pl.driven {
			continue // it must be shut down, as threads must
		}
		t.Run(pl.name, func(t *testing.T) {
			base := runtime.NumGoroutine()
			forget := func() weak.Pointer[pool.Pool[*int]] {
				p := on(pl.settle(t, lane.Config{Workers: 2}), pool.Config[*int]{Dispose: func(*int) error { return nil }})
				id := adopt(t, p, new(int))
				succeeds(t, p.With(t.Context(), id, leave))
				succeeds(t, second(pool.OffloadOn(t.Context(), p, id, func(context.Context, *int) (int, error) { return 0, nil })))
				succeeds(t, p.Do(bg, nothing, pool.Label("x")))
				return weak.Make(p)
			}
			forgotten := forget()
			settles(t, base)
			for end := time.Now().Add(time.Minute); forgotten.Value() != nil; runtime.GC() {
				if time.Now().After(end) {
					t.Fatal("it stays in memory")
				}
			}
		})
	}
}
