package ringdriver

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

func openDriver(t testing.TB, slots int) *Driver {
	d, err := New(Config{Slots: slots})
	require.NoError(t, err)
	return d
}

// within fails the test if fn takes long.
func within(t testing.TB, what string, fn func()) {
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("hangs: " + what)
	}
}

func TestAFiberWhoseOperationsAreRefusedAtOnceHoldsNobodyUp(t *testing.T) {
	d := openDriver(t, 4)
	var over atomic.Bool
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	within(t, "another operation", func() {
		var all sync.WaitGroup
		begun := make(chan struct{})
		all.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) {
				close(begun)
				for !over.Load() {
					On(ctx).Do(dead, &fileop.Op{})
				}
			})
		})
		<-begun
		d.Do(context.Background(), &fileop.Op{})
		over.Store(true)
		all.Wait()
	})
	require.NoError(t, d.Close(context.Background()))
	require.Less(t, cap(d.ready), 100)
}

// hooked is a context of somebody's making.
type hooked struct {
	context.Context
	value, done func() // called before
	err         func() // called after
}

func (h hooked) Err() error {
	err := h.Context.Err()
	if h.err != nil {
		h.err()
	}
	return err
}

func (h hooked) Value(key any) any {
	if h.value != nil {
		h.value()
	}
	return h.Context.Value(key)
}

func (h hooked) Done() <-chan struct{} {
	if h.done != nil {
		h.done()
	}
	return h.Context.Done()
}

func TestAContextWhoseValuesAreLockedHoldsNobodyUp(t *testing.T) {
	d := openDriver(t, 4)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _, _ = r.Close(), w.Close() }()
	pipe := &fileop.File{FD: r.Fd()}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	locks := hooked{Context: ctx, value: func() {
		mu.Lock()
		defer mu.Unlock() // to wait is the point
	}}
	within(t, "a fiber that holds the lock", func() {
		var all sync.WaitGroup
		held := make(chan struct{})
		all.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) {
				mu.Lock()
				close(held)
				On(ctx).Do(ctx, &fileop.Op{Kind: fileop.Read, File: pipe, Buf: make([]byte, 1)})
				mu.Unlock()
			})
		})
		<-held
		all.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) {
				f := On(ctx)
				_, _ = w.Write([]byte{1})
				f.Do(locks, &fileop.Op{})
			})
		})
		all.Wait()
	})
	require.NoError(t, d.Close(context.Background()))
}

func TestWhereAContextPanicsNothingIsInFlight(t *testing.T) {
	d := openDriver(t, 4)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sleep := func() *fileop.Op { return &fileop.Op{Kind: fileop.Sleep, Off: int64(time.Second)} }
	panics := func() { panic("context") }
	require.Panics(t, func() { d.Do(hooked{Context: ctx, done: panics}, sleep()) })
	d.Run(context.Background(), nil, func(inner context.Context) {
		f := On(inner)
		for range 3 {
			require.Panics(t, func() { f.Do(hooked{Context: ctx, value: panics}, sleep()) })
		}
		f.Do(inner, &fileop.Op{})
	})
	require.Panics(t, func() { d.Run(hooked{Context: ctx, done: panics}, nil, func(context.Context) {}) })
	require.Zero(t, d.watching.fibers)
	require.Zero(t, d.inFlight)
	require.NoError(t, d.Close(context.Background()))
}

func TestWhatIsCalledOffJustBeforeItsBeginningEnds(t *testing.T) {
	d := openDriver(t, 8)
	within(t, "a sleeper", func() {
		d.Run(context.Background(), nil, func(inner context.Context) {
			f := On(inner)
			takenOver(inner) // from now on it is run aside
			for range 3 {
				ctx, cancel := context.WithCancel(inner)
				heard := func() { // so the driver hears of it before it hears of the beginning
					cancel()
					for known := false; !known; {
						d.do(func() { known = f.req.early == f.req.turn })
					}
				}
				op := &fileop.Op{Kind: fileop.Sleep, Off: int64(time.Hour)}
				if f.Do(hooked{Context: ctx, err: heard}, op); op.Err != fileop.ErrCancelled {
					t.Error(op.Err)
				}
			}
		})
	})
	require.NoError(t, d.Close(context.Background()))
}

func TestWhatIsCalledOffAroundItsBeginningEnds(t *testing.T) {
	d := openDriver(t, 8)
	within(t, "a sleeper", func() {
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				d.Run(context.Background(), nil, func(inner context.Context) {
					f := On(inner)
					for i := range 300 {
						if i%penance == 0 && n%2 == 0 {
							takenOver(inner) // from now on it is run aside
						}
						ctx, cancel := context.WithCancel(inner)
						go cancel()
						op := &fileop.Op{Kind: fileop.Sleep, Off: int64(time.Hour)}
						if f.Do(ctx, op); op.Err != fileop.ErrCancelled {
							t.Error(op.Err)
						}
					}
				})
			})
		}
		all.Wait()
	})
	require.NoError(t, d.Close(context.Background()))
}

func TestFibersThatBlockTogetherHoldOthersUpOnce(t *testing.T) {
	const n = 400
	d := openDriver(t, n)
	release := make(chan struct{})
	blocks := make(chan struct{}, n)
	var begun atomic.Int32
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) {
				begun.Add(1)
				for begun.Load() < n {
					On(ctx).Do(ctx, &fileop.Op{})
				}
				blocks <- struct{}{}
				<-release
				On(ctx).Do(ctx, &fileop.Op{})
			})
		})
	}
	for range n {
		<-blocks
	}
	d.Do(context.Background(), &fileop.Op{})
	require.Less(t, d.Stats().TakeOvers, uint64(n/4))
	close(release)
	all.Wait()
	require.NoError(t, d.Close(context.Background()))
}
