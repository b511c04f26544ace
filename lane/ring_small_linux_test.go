package lane_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lane/lanetest"
)

// Law: the laws of lanes hold for operations in a ring that refuses all of them at first, and for
// functions beside it.
func TestRingKeepsTheLawsWhereItRefusesEverything(t *testing.T) {
	open := func(t testing.TB, c lane.Config) *lane.Ring {
		rc := refusing(lane.RingConfig{Config: c, Threads: 64}, func(*lane.Op) bool { return true })
		l, err := lane.NewRing(rc)
		require.NoError(t, err)
		return l
	}
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane { return operations{open(t, c)} },
		lanetest.Options{Carry: true, RealTime: true})
}

// Law: four times more operations than there are places and room in the queue: those that fit
// wait, the others are refused with a type, and nothing is lost.
func TestMoreOperationsThanFitAreRefused(t *testing.T) {
	c := slots(4, 1)
	c.Queue, c.Policy = 8, lane.FailFast
	l := ring(t, c)
	r, w := openPipe(t)
	var refused, done atomic.Int64
	var all sync.WaitGroup
	for range 4 * 12 {
		all.Go(func() {
			op := readOp(r, 1, fileop.AtPosition)
			err := l.Operate(context.Background(), lane.Call{}, op)
			switch {
			case errors.Is(err, ioerr.ErrQueueFull):
				refused.Add(1)
			case err == nil && op.Err == nil && op.N == 1:
				done.Add(1)
			default:
				t.Error(err, op.Err, op.N)
			}
		})
	}
	eventually(t, func() bool { return refused.Load() == 4*12-12 })
	s := l.Stats().Shards[0]
	require.Equal(t, 4, s.Running)
	require.Equal(t, 8, s.Queued)
	addUp(t, l.Stats())
	feed(t, w, "0123456789ab")
	all.Wait()
	require.EqualValues(t, 12, done.Load())
	require.EqualValues(t, 36, l.Stats().Refused.QueueFull)
}

// Law: whoever waits for a place obeys his context, and what he wanted never happens.
func TestAnOperationThatWaitsForItsPlaceCanBeCalledOff(t *testing.T) {
	l := ring(t, slots(1, 1))
	r, w := openPipe(t)
	first := readOp(r, 1, fileop.AtPosition)
	var all sync.WaitGroup
	all.Go(func() { operate(t, l, first) })
	eventually(t, func() bool { return l.Stats().Running == 1 })
	ctx, cancel := context.WithCancel(context.Background())
	late := make(chan error)
	go func() { late <- l.Operate(ctx, lane.Call{}, readOp(r, 1, fileop.AtPosition)) }()
	eventually(t, func() bool { return l.Stats().Queued == 1 })
	cancel()
	require.ErrorIs(t, <-late, context.Canceled)
	feed(t, w, "x")
	all.Wait()
	came(t, first, 1, nil)
}

// Law: an operation inside a call of the lane takes a free place or is refused, also on a
// thread; inside a fiber it needs none.
func TestOperationsInsideCalls(t *testing.T) {
	l := ring(t, slots(1, 1))
	nested := lane.Call{NoWait: true}
	f := openFile(t, "0123456789", os.O_RDWR)
	flush := &lane.Op{Kind: fileop.Fsync, File: f}
	held, err := l.Enter(context.Background(), lane.Call{}) // a function
	require.NoError(t, err)
	require.ErrorIs(t, l.Operate(context.Background(), nested, flush), ioerr.ErrReentry)
	require.NoError(t, l.Operate(context.Background(), nested, &lane.Op{}))
	l.Leave(held)
	require.NoError(t, l.Operate(context.Background(), nested, flush))
	require.NoError(t, l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) {
		require.ErrorIs(t, l.Operate(context.WithoutCancel(context.Background()), nested, &lane.Op{}), ioerr.ErrReentry, "not as the fiber")
		require.NoError(t, l.Operate(ctx, nested, &lane.Op{}))
		require.NoError(t, l.Operate(ctx, nested, flush))
		require.ErrorIs(t, l.Fiber(ctx, nested, func(context.Context) {}), ioerr.ErrReentry)
		ops := make([]lane.Op, 10)
		require.NoError(t, l.OperateAll(ctx, nested, ops))
	}))
}

// Law: one limit for a key counts operations and functions together.
func TestOperationsAndFunctionsShareTheLimitOfAKey(t *testing.T) {
	c := slots(8, 8)
	c.PerKey = 2
	l := ring(t, c)
	r, w := openPipe(t)
	call, quick := lane.Call{Key: "a"}, lane.Call{Key: "a", NoWait: true}
	held, err := l.Enter(context.Background(), call)
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		if err := l.Operate(context.Background(), call, readOp(r, 1, fileop.AtPosition)); err != nil {
			t.Error(err)
		}
	})
	eventually(t, func() bool { return l.Stats().Running == 2 })
	f := openFile(t, "", os.O_RDWR)
	for _, op := range []*lane.Op{{}, {Kind: fileop.Fsync, File: f}} {
		require.Error(t, l.Operate(context.Background(), quick, op))
		require.NoError(t, l.Operate(context.Background(), lane.Call{Key: "b", NoWait: true}, op))
	}
	_, err = l.Enter(context.Background(), quick)
	require.Error(t, err)
	require.Error(t, l.Fiber(context.Background(), quick, func(context.Context) { t.Error("a fiber") }))
	l.Leave(held)
	require.NoError(t, l.Operate(context.Background(), quick, &lane.Op{}))
	feed(t, w, "x")
	all.Wait()
}

// Law: fibers that all need the one thread get it in turn: no cycle of waiting.
func TestFibersThatNeedTheOnlyThreadGetOn(t *testing.T) {
	l := ring(t, slots(64, 1))
	f := openFile(t, "0123456789", os.O_RDWR)
	var done atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			err := l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) {
				for i := range 5 {
					ops := []lane.Op{{Kind: fileop.Fdatasync, File: f}, {}, *writeOp(f, "x", int64(i))}
					require.NoError(t, l.Operate(ctx, lane.Call{}, &ops[0]))
					require.NoError(t, l.OperateAll(ctx, lane.Call{}, ops))
					for i := range ops {
						require.NoError(t, ops[i].Err)
					}
				}
				done.Add(1)
			})
			require.NoError(t, err)
		})
	}
	all.Wait()
	require.EqualValues(t, 64, done.Load())
}

// Law: the sums hold, and each operation counts once: served, cached, or on a thread.
func TestEachOperationCountsOnce(t *testing.T) {
	refuse := atomic.Int64{}
	c := refusing(slots(8, 4), func(op *lane.Op) bool { return op.Flags == 1 && refuse.Add(1) > 0 })
	l := ring(t, c)
	f := openFile(t, "0123456789", os.O_RDWR)
	var n atomic.Uint64
	var all sync.WaitGroup
	for i := range 16 {
		body := func(ctx context.Context) {
			for j := range 50 {
				ops := []lane.Op{*readOp(f, 4, 0), {Kind: fileop.Fsync, File: f}, {}, {Flags: int32(j % 2)}}
				for k := range ops {
					require.NoError(t, l.Operate(ctx, lane.Call{}, &ops[k]))
				}
				require.NoError(t, l.OperateAll(ctx, lane.Call{}, ops))
				n.Add(2 * uint64(len(ops)))
			}
		}
		all.Go(func() {
			if i%2 == 0 {
				body(context.Background())
				return
			}
			require.NoError(t, l.Fiber(context.Background(), lane.Call{}, body))
		})
	}
	all.Wait()
	s := l.Stats()
	addUp(t, s)
	require.Equal(t, n.Load(), s.Ring.Served+s.Ring.Cached+s.Ring.Threads)
	require.EqualValues(t, refuse.Load(), s.Ring.Fallback)
	require.Zero(t, s.Running+s.Queued+s.Waiting)
}

// Law: of two rings one may fail: all goes on, by the other, and no file is to blame.
func TestOneRingOfTwoMayFail(t *testing.T) {
	var told events
	c := slots(8, 2)
	c.Rings, c.OnEvent, c.NoInline = 2, told.note, true
	l := ring(t, c)
	require.Equal(t, 2, l.Stats().Ring.Rings)
	f := openFile(t, "0123456789", os.O_RDWR)
	breakARing(t)
	for range 50 {
		op := readOp(f, 4, 2)
		operate(t, l, op)
		came(t, op, 4, nil)
		require.NoError(t, l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) { _ = l.Operate(ctx, lane.Call{}, op) }))
		came(t, op, 4, nil)
	}
	eventually(t, func() bool { return told.count(lane.Degraded) == 1 })
	s := l.Stats().Ring
	require.Equal(t, 1, s.Rings)
	require.Error(t, s.Reason)
	require.Zero(t, f.Without.Load())
	require.Greater(t, s.Served, uint64(90))
}

// Law: however the ring is driven, no thread of the kernel's takes its submissions (the ring
// has the rights of whoever made it, and of nobody later), and nobody polls a device.
func TestNoThreadOfTheKernelTakesSubmissions(t *testing.T) {
	d, err := ringdriver.New(ringdriver.Config{Slots: 4})
	if err != nil {
		t.Skip(err)
	}
	const ioPoll, sqPoll = 1, 2
	require.Zero(t, d.Info().Flags&(ioPoll|sqPoll))
	require.NoError(t, d.Close(context.Background()))
}
