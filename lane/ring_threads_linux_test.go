package lane_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// onThreads is operations that a ring leaves to threads.
func onThreads(t *testing.T, n int) []lane.Op {
	t.Helper()
	f := openFile(t, "content", 2)
	ops := make([]lane.Op, n)
	for i := range ops {
		ops[i] = lane.Op{Kind: fileop.Fsync, File: f}
	}
	return ops
}

// Law: what was admitted is done under a slot, all of it, also if the lane shuts down
// meanwhile.
func TestABatchOnThreadsOutlastsAShutdown(t *testing.T) {
	for range 200 {
		l, err := lane.NewRing(slots(4, 1))
		require.NoError(t, err)
		ops := onThreads(t, 20)
		var all sync.WaitGroup
		var refused error
		began := make(chan struct{})
		all.Go(func() {
			close(began)
			refused = l.OperateAll(context.Background(), lane.Call{}, ops)
		})
		<-began
		require.NoError(t, l.Shutdown(context.Background()))
		all.Wait()
		s := l.Stats()
		if refused != nil {
			require.ErrorIs(t, refused, ioerr.ErrShutdown)
			require.Zero(t, s.Ring.Threads)
			continue
		}
		require.EqualValues(t, len(ops), s.Ring.Threads)
		require.Zero(t, s.Running)
	}
}

// Law: what is inside a call of the lane never waits for the thread that this holds: it is refused,
// or done under it.
func TestOperationsInsideACallThatHoldsTheLastThread(t *testing.T) {
	l, err := lane.NewRing(slots(4, 1))
	require.NoError(t, err)
	defer shut(t, l)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	held, err := l.Enter(ctx, lane.Call{})
	require.NoError(t, err)
	inside := lane.Call{NoWait: true}

	ops := onThreads(t, 1)
	require.ErrorIs(t, l.Operate(ctx, inside, &ops[0]), ioerr.ErrReentry)
	require.NoError(t, l.Fiber(ctx, inside, func(ctx context.Context) {
		require.ErrorIs(t, l.Operate(ctx, inside, &ops[0]), ioerr.ErrReentry)
	}))
	mixed := append(onThreads(t, 2), lane.Op{}, lane.Op{})
	require.NoError(t, l.OperateAll(ctx, inside, mixed))
	for i := range mixed {
		require.NoError(t, mixed[i].Err)
	}
	require.NoError(t, ctx.Err())
	l.Leave(held)
}

// Law: so it is with what the ring was to do, and refuses.
func TestOperationsInsideACallThatTheRingRefuses(t *testing.T) {
	inside := lane.Call{NoWait: true}
	for name, do := range map[string]func(ctx context.Context, l *lane.Ring, op *lane.Op) error{
		"operation": func(ctx context.Context, l *lane.Ring, op *lane.Op) error { return l.Operate(ctx, inside, op) },
		"fiber": func(ctx context.Context, l *lane.Ring, op *lane.Op) (err error) {
			if e := l.Fiber(ctx, inside, func(ctx context.Context) { err = l.Operate(ctx, inside, op) }); e != nil {
				return e
			}
			return err
		},
		"batch": func(ctx context.Context, l *lane.Ring, op *lane.Op) error {
			all := []lane.Op{*op, {}, *op}
			err := l.OperateAll(ctx, inside, all)
			*op = all[2]
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := slots(4, 1)
			c.NoInline = true
			l, err := lane.NewRing(refusing(c, func(op *lane.Op) bool { return op.Kind == fileop.Read }))
			require.NoError(t, err)
			defer shut(t, l)
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			held, err := l.Enter(ctx, lane.Call{})
			require.NoError(t, err)
			defer l.Leave(held)
			op := readOp(openFile(t, "content", 0), 7, 0)
			require.NoError(t, do(ctx, l, op))
			came(t, op, 7, nil)
			require.NotZero(t, l.Stats().Ring.Fallback)
		})
	}
}

// panics is a context whose Done does.
type panics struct{ context.Context }

func (panics) Done() <-chan struct{} { panic("Done") }

// Law: a context that panics costs no slot.
func TestAContextThatPanicsCostsNoSlot(t *testing.T) {
	l, err := lane.NewRing(slots(2, 1))
	require.NoError(t, err)
	for range 5 {
		require.Panics(t, func() { _ = l.Operate(panics{context.Background()}, lane.Call{}, &lane.Op{}) })
	}
	operate(t, l, &lane.Op{})
	shut(t, l)
}
