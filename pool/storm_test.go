package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// outcome is how one call ended. There is exactly one for each.
type outcome int32

const (
	unknown outcome = iota
	ran
	cancelled
	timedOut
	shutdown
	refused
	outcomes
)

// outcomeOf tells how a call ended that ran so many times and returned err, and
// fails the test if the two do not go together.
func outcomeOf(t testing.TB, times int32, err error) outcome {
	t.Helper()
	o := ran
	if e := typed(t, err); e != nil && e.Origin != ioerr.Leaf {
		switch e.Outcome {
		case ioerr.Cancelled:
			o = cancelled
		case ioerr.TimedOut:
			o = timedOut
		case ioerr.ShutdownInProgress:
			o = shutdown
		case ioerr.Failed:
			o = refused
		}
		if e.Effect != ioerr.None {
			t.Errorf("effect %v of a call that never ran: %v", e.Effect, err)
		}
	}
	want := int32(0)
	if o == ran {
		want = 1
	}
	if times != want {
		t.Errorf("ran %d times, but ended with %v", times, err)
	}
	return o
}

// ticket is one call, which records its outcome once.
type ticket struct {
	t   testing.TB
	out atomic.Int32
	err error
}

func (k *ticket) record(o outcome, err error) {
	if !k.out.CompareAndSwap(int32(unknown), int32(o)) {
		k.t.Errorf("a second outcome %v after %v", o, k.out.Load())
	}
	k.err = err
}

// storm is a pool under load, and all that is started in it.
type storm struct {
	*testing.T
	shop   *shop
	ground *ground
	p      *pool.Pool[*thing]

	wg    sync.WaitGroup
	mu    sync.Mutex
	calls []*ticket
}

// storms runs a shape of load on Threads and on Sharded lanes, whose calls really
// block, and checks what holds afterwards, whatever the shape: every call had one
// outcome, every thing was disposed of once, nothing is left running.
func storms(t *testing.T, c pool.Config[*thing], l lane.Config, shape func(s *storm)) {
	t.Helper()
	if l.Workers == 0 {
		l.Workers = 4
	}
	for _, pl := range places[:5] { // own and shared Threads, and each kind of Sharded
		t.Run(pl.name, func(t *testing.T) {
			s := &storm{T: t, shop: newShop(t), ground: pl.settle(t, l)}
			c := c
			c.Dispose = s.shop.dispose
			s.p = on(s.ground, c)
			base := runtime.NumGoroutine()
			shape(s)
			s.wait()
			closes(t, s.p)
			s.shop.allBack()
			settles(t, base)
			if st := s.p.Stats().Lane; st.Running != 0 || st.Queued != 0 || st.Waiting != 0 || st.Started != st.Completed {
				t.Errorf("%+v", st)
			}
		})
	}
}

// settles waits until there are no more goroutines than before.
func settles(t testing.TB, base int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if runtime.NumGoroutine() <= base {
			return
		}
		time.Sleep(100 * time.Microsecond) // a goroutine that has done all still needs a moment to go
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), base)
}

// call starts a call in the background and records its outcome.
func (s *storm) call(ctx context.Context, do func(ctx context.Context, work func(context.Context) error) error, work func(context.Context) error) *ticket {
	k := &ticket{t: s}
	s.mu.Lock()
	s.calls = append(s.calls, k)
	s.mu.Unlock()
	s.wg.Go(func() {
		var times atomic.Int32
		err := do(ctx, func(ctx context.Context) error { times.Add(1); return work(ctx) })
		k.record(outcomeOf(s, times.Load(), err), err)
	})
	return k
}

// transact starts a transaction on a handle.
func (s *storm) transact(ctx context.Context, id handle.ID, work func(context.Context) error, opts ...pool.Option) *ticket {
	return s.call(ctx, func(ctx context.Context, work func(context.Context) error) error {
		return s.p.With(ctx, id, with(work), opts...)
	}, work)
}

// run starts a call without a handle.
func (s *storm) run(ctx context.Context, work func(context.Context) error, opts ...pool.Option) *ticket {
	return s.call(ctx, func(ctx context.Context, work func(context.Context) error) error {
		return s.p.Do(ctx, work, opts...)
	}, work)
}

// wait waits for all that was started.
func (s *storm) wait() {
	s.Helper()
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		buf := make([]byte, 1<<20)
		s.Fatalf("hangs\n%s", buf[:runtime.Stack(buf, true)])
	}
	for _, k := range s.calls {
		if k.out.Load() == int32(unknown) {
			s.Error("a call without an outcome")
		}
	}
}

// sum counts the outcomes; only those that are allowed may occur.
func (s *storm) sum(allowed ...outcome) (n [outcomes]int) {
	s.Helper()
	s.wait()
	for _, k := range s.calls {
		n[k.out.Load()]++
	}
	rest := len(s.calls)
	for _, o := range allowed {
		rest -= n[o]
	}
	if rest != 0 {
		for _, k := range s.calls {
			s.Log(k.out.Load(), k.err)
		}
		s.Errorf("outcomes %v (none, ran, cancelled, timed out, shutdown, refused), allowed %v", n, allowed)
	}
	s.calls = nil
	return n
}

// holder starts a transaction that blocks in the kernel until the barrier opens,
// and returns when it does.
func (s *storm) holder(id handle.ID, b *barrier) *ticket {
	s.Helper()
	k := s.transact(bg, id, func(context.Context) error { b.stay(); return nil })
	<-b.reached
	return k
}

// line waits until so many callers stand in the line of a handle, which can be
// told by the one that does not fit. The pool's Waiters has to be n.
func (s *storm) line(id handle.ID) {
	s.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		err := s.p.With(bg, id, leave, pool.AcceptWithin(-1))
		if errors.Is(err, ioerr.ErrWaitersFull) {
			return
		}
		runtime.Gosched()
	}
	s.Fatal("the line does not form")
}

func (s *storm) adopt() handle.ID {
	s.Helper()
	id, err := s.p.Adopt(s.shop.make())
	require.NoError(s, err)
	return id
}

// doze is a short call that really blocks.
func doze(context.Context) error { nap(20 * time.Microsecond); return nil }
