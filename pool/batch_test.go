package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
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

func newBatch(t testing.TB, p *pool.Pool[struct{}], size int) *pool.Batch[int] {
	t.Helper()
	b, err := pool.NewBatch[int](t.Context(), p, size)
	require.NoError(t, err)
	t.Cleanup(b.Cancel)
	return b
}

// Law: results come in the order in which the calls end, each once, and Await waits for so many
// and not for what cannot come.
func TestResultsComeInTheOrderOfTheirEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(t, ofWorkers(t, lane.Config{Workers: 4}), 4)
		began := time.Now()
		slots := map[int]int{}
		for i, d := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second, 4 * time.Second} {
			slot, err := b.Add(after(d, i, nil))
			require.NoError(t, err)
			slots[i] = slot
		}
		_, err := b.Add(after(0, 0, nil))
		require.ErrorIs(t, err, ioerr.ErrBatchFull)
		n, err := b.Await(t.Context(), 0)
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = b.Await(t.Context(), 2)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, 2*time.Second, time.Since(began))
		for _, want := range []int{1, 2} {
			r, ok := b.Next()
			require.True(t, ok)
			require.Equal(t, pool.Result[int]{Slot: slots[want], Value: want}, r)
		}
		_, ok := b.Next()
		require.False(t, ok)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = b.Await(ctx, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		n, err = b.Await(t.Context(), 100) // more than there can be
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, 4*time.Second, time.Since(began))
		for range 2 {
			_, ok = b.Next()
			require.True(t, ok)
		}
		n, err = b.Await(t.Context(), 1)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

// Law: several may wait, each for as many as he likes.
func TestSeveralMayWaitForABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(t, ofWorkers(t, lane.Config{Workers: 8}), 8)
		for i := range 8 {
			_, err := b.Add(after(time.Duration(i+1)*time.Second, i, nil))
			require.NoError(t, err)
		}
		began := time.Now()
		var all sync.WaitGroup
		for _, least := range []int{5, 1, 8, 3, 3, 7} {
			all.Go(func() {
				n, err := b.Await(t.Context(), least)
				require.NoError(t, err)
				require.Equal(t, least, n)
				require.Equal(t, time.Duration(least)*time.Second, time.Since(began))
			})
		}
		all.Wait()
	})
}

// Law: a call fails by itself: errors, panics and Goexit are in its result.
func TestACallOfABatchFailsByItself(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		b, err := pool.NewBatch[int](t.Context(), p, 4)
		require.NoError(t, err)
		fails := []func(context.Context) (int, error){
			func(context.Context) (int, error) { return 0, errIO },
			func(context.Context) (int, error) { panic(errIO) },
			func(context.Context) (int, error) { return 3, nil },
		}
		if _, inline := l.(*lane.Inline); !inline {
			fails = append(fails, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
		}
		var slots []int
		for _, fn := range fails {
			slot, err := b.Add(fn)
			require.NoError(t, err)
			slots = append(slots, slot)
		}
		n, err := b.Await(t.Context(), len(fails))
		require.NoError(t, err)
		require.Equal(t, len(fails), n)
		for range fails {
			r, ok := b.Next()
			require.True(t, ok)
			switch r.Slot {
			case slots[0], slots[1]:
				require.ErrorIs(t, r.Err, errIO)
			case slots[2]:
				require.NoError(t, r.Err)
				require.Equal(t, 3, r.Value)
			default:
				require.ErrorIs(t, r.Err, ioerr.ErrGoexit)
			}
		}
		b.Cancel()
		require.NoError(t, p.Close())
	})
}

// Law: Cancel ends what is under way, waits for it and loses no result; then the batch is as new.
func TestCancelOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 2})
		b := newBatch(t, p, 4)
		for round := range 3 {
			obeys := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) }
			opens := func(ctx context.Context) (int, error) { <-ctx.Done(); time.Sleep(time.Second); return round, nil }
			for _, fn := range []func(context.Context) (int, error){obeys, opens} {
				_, err := b.Add(fn)
				require.NoError(t, err)
			}
			var all sync.WaitGroup
			all.Go(func() { // waits for a slot of the lane
				_, err := b.Add(after(0, 0, nil))
				require.ErrorIs(t, err, context.Canceled)
			})
			synctest.Wait()
			b.Cancel()
			all.Wait()
			n, err := b.Await(t.Context(), 9)
			require.NoError(t, err)
			require.Equal(t, 2, n)
			r, _ := b.Next()
			require.ErrorIs(t, r.Err, context.Canceled)
			r, _ = b.Next()
			require.NoError(t, r.Err)
			require.Equal(t, round, r.Value)
			require.Zero(t, p.Stats().Lane.Running)
		}
	})
}

// Law: inside a call of a full lane the calls of a batch run in their caller.
func TestABatchInsideAFullLane(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	require.NoError(t, p.Do(t.Context(), func(ctx context.Context) error {
		b, err := pool.NewBatch[int](ctx, p, 3)
		require.NoError(t, err)
		defer b.Cancel()
		for i := range 3 {
			_, err := b.Add(func(ctx context.Context) (int, error) {
				return pool.Run(ctx, p, func(context.Context) (int, error) { return i, nil })
			})
			require.NoError(t, err)
		}
		for i := range 3 {
			r, ok := b.Next()
			require.True(t, ok)
			require.ErrorIs(t, r.Err, ioerr.ErrReentry) // of the call inside: that lane is full
			require.Equal(t, 0, r.Value)
			_ = i
		}
		return nil
	}))
}

// Law: whatever goes on at once, each call that was added has one result.
func TestABatchInAStorm(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		b, err := pool.NewBatch[int](t.Context(), p, 8)
		require.NoError(t, err)
		var added, taken, ran atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range rounds(300, 10_000) {
					switch rand.IntN(8) {
					case 0:
						b.Cancel()
					case 1:
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(50))*time.Microsecond)
						_, _ = b.Await(ctx, rand.IntN(10))
						cancel()
					case 2, 3, 4:
						if _, ok := b.Next(); ok {
							taken.Add(1)
						}
					default:
						if _, err := b.Add(func(context.Context) (int, error) { ran.Add(1); return 0, nil }); err == nil {
							added.Add(1)
						}
					}
				}
			})
		}
		all.Wait()
		b.Cancel()
		for _, ok := b.Next(); ok; _, ok = b.Next() {
			taken.Add(1)
		}
		require.Equal(t, added.Load(), taken.Load())
		require.LessOrEqual(t, ran.Load(), added.Load())
		for range 8 { // all slots are back
			_, err := b.Add(func(context.Context) (int, error) { return 0, nil })
			require.NoError(t, err)
		}
		b.Cancel()
		require.NoError(t, p.Close())
	})
}

// Law: a call of a batch costs no allocation.
func TestABatchDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, cancellable := range []bool{false, true} {
		p := ofWorkers(t, lane.Config{Workers: 4})
		ctx := context.Background()
		if cancellable {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
		}
		b, err := pool.NewBatch[int](ctx, p, 4)
		require.NoError(t, err)
		defer b.Cancel()
		fn := func(context.Context) (int, error) { return 1, nil }
		allocs := testing.AllocsPerRun(1000, func() {
			for range 4 {
				if _, err := b.Add(fn); err != nil {
					t.Error(err)
				}
			}
			for range 4 {
				if n, err := b.Await(context.Background(), 1); n == 0 || err != nil {
					t.Error(n, err)
				}
				b.Next()
			}
		})
		require.Less(t, allocs, 0.5)
	}
}

// Law: what cannot be is refused by name.
func TestBatchesRefuseBadInput(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	var none context.Context
	b := newBatch(t, p, 1)
	for name, fails := range map[string]func() error{
		"size": func() error { _, err := pool.NewBatch[int](t.Context(), p, 0); return err },
		"ctx":  func() error { _, err := pool.NewBatch[int](none, p, 1); return err },
		"p":    func() error { _, err := pool.NewBatch[int, struct{}](t.Context(), nil, 1); return err },
		"fn":   func() error { _, err := b.Add(nil); return err },
		"pool.Undo": func() error {
			_, err := b.Add(after(0, 0, nil), pool.Undo(func(string) error { return nil }))
			return err
		},
		"pool.Batch": func() error { _, err := new(pool.Batch[int]).Add(nil); return err },
	} {
		e, ok := errors.AsType[*ioerr.ArgumentError](fails())
		require.True(t, ok, name)
		require.True(t, name == e.Name || name == e.Value, "%v", e)
	}
	_, err := b.Await(none, 1)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	for _, b := range []*pool.Batch[int]{nil, {}} {
		_, err = b.Await(t.Context(), 1)
		require.ErrorIs(t, err, ioerr.ErrInvalid)
		_, ok := b.Next()
		require.False(t, ok)
		b.Cancel()
	}
	_, err = b.Add(after(0, 0, nil))
	require.NoError(t, err)
}

// Law: a shutdown that gives up calls off the calls of a batch, as those of others.
func TestAShutdownThatGivesUpCallsABatchOff(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		if _, inline := l.(*lane.Inline); inline {
			t.Skip("calls run in their caller")
		}
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		b, err := pool.NewBatch[int](context.Background(), p, 1)
		require.NoError(t, err)
		running := make(chan struct{})
		_, err = b.Add(func(ctx context.Context) (int, error) {
			close(running)
			<-ctx.Done()
			return 1, context.Cause(ctx)
		})
		require.NoError(t, err)
		<-running
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_ = p.Shutdown(ctx)
		_, err = b.Await(t.Context(), 1)
		require.NoError(t, err)
		r, ok := b.Next()
		require.True(t, ok)
		require.ErrorIs(t, r.Err, ioerr.ErrShutdown)
		_, err = b.Add(after(0, 0, nil))
		require.ErrorIs(t, err, ioerr.ErrShutdown)
		b.Cancel()
		require.NoError(t, p.Close())
	})
}

// Law: a batch that is cancelled holds on to nothing of its context.
func TestABatchThatIsCancelledLetsGo(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 2})
	listeners := &listened{Context: t.Context(), done: make(chan struct{})}
	for range 10 {
		b, err := pool.NewBatch[int](listeners, p, 2)
		require.NoError(t, err)
		_, err = b.Add(func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, nil })
		require.NoError(t, err)
		b.Cancel()
		_, ok := b.Next()
		require.True(t, ok)
	}
	require.Zero(t, listeners.now.Load())
}

// listened is a context that knows how many listen to it.
type listened struct {
	context.Context
	done chan struct{}
	now  atomic.Int64
}

func (l *listened) Done() <-chan struct{} { return l.done }

// AfterFunc is what package context asks those for that are not its own.
func (l *listened) AfterFunc(func()) (stop func() bool) {
	l.now.Add(1)
	return func() bool { l.now.Add(-1); return true }
}
