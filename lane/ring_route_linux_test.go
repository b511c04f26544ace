package lane_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/internal/uring"
	"github.com/iolane/iolane/lane"
)

// way is where an operation was done.
type way struct{ served, cached, threads, fallback uint64 }

func ways(l *lane.Ring) way {
	s := l.Stats().Ring
	return way{s.Served, s.Cached, s.Threads, s.Fallback}
}

func (w way) since(v way) way {
	return way{w.served - v.served, w.cached - v.cached, w.threads - v.threads, w.fallback - v.fallback}
}

// Law: each operation is done where it is done best, and counts there once.
func TestOperationsAreDoneWhereTheyAreDoneBest(t *testing.T) {
	onRing, onThread, inline := way{served: 1}, way{threads: 1}, way{cached: 1}
	buffered := openFile(t, "0123456789", os.O_RDWR)
	bufs := func(op *lane.Op) *lane.Op {
		op.More = &fileop.More{Bufs: [][]byte{op.Buf[:1], op.Buf[1:]}}
		return op
	}
	for name, c := range map[string]struct {
		op       func() *lane.Op
		want     way
		noInline bool
	}{
		"nothing":               {func() *lane.Op { return &lane.Op{} }, onRing, false},
		"sleep":                 {func() *lane.Op { return &lane.Op{Kind: fileop.Sleep, Off: 1} }, onRing, false},
		"read cached":           {func() *lane.Op { return readOp(buffered, 4, 2) }, inline, false},
		"read, not inline":      {func() *lane.Op { return readOp(buffered, 4, 2) }, onRing, true},
		"read vectored":         {func() *lane.Op { return bufs(readOp(buffered, 4, 2)) }, onRing, false},
		"write buffered":        {func() *lane.Op { return writeOp(buffered, "2345", 2) }, onThread, false},
		"write buffered vector": {func() *lane.Op { return bufs(writeOp(buffered, "2345", 2)) }, onThread, false},
		"append": {func() *lane.Op {
			op := writeOp(openFile(t, "", os.O_RDWR), "2345", 0)
			op.Append = true
			return op
		}, onThread, false},
		"read a pipe": {func() *lane.Op {
			r, w := openPipe(t)
			feed(t, w, "2345")
			return readOp(r, 4, fileop.AtPosition)
		}, onRing, false},
		"read a pipe vectored": {func() *lane.Op {
			r, w := openPipe(t)
			feed(t, w, "2345")
			return bufs(readOp(r, 4, fileop.AtPosition))
		}, onRing, false},
		"write a pipe": {func() *lane.Op { _, w := openPipe(t); return writeOp(w, "2345", fileop.AtPosition) }, onRing, false},
		"sync":         {func() *lane.Op { return &lane.Op{Kind: fileop.Fsync, File: buffered} }, onThread, false},
		"stat": {func() *lane.Op {
			return &lane.Op{Kind: fileop.Stat, File: buffered, More: &fileop.More{}}
		}, onThread, false},
		"open": {func() *lane.Op {
			return &lane.Op{Kind: fileop.Open, Flags: syscall.O_RDONLY, More: &fileop.More{Path: "/"}}
		}, onThread, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := slots(4, 2)
			config.NoInline = c.noInline
			l := ring(t, config)
			for _, fiber := range []bool{false, true} {
				before, op := ways(l), c.op()
				want := c.want
				if fiber {
					require.NoError(t, l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) {
						require.NoError(t, l.Operate(ctx, lane.Call{}, op))
					}))
					if want.cached == 1 {
						want = onRing // a fiber is not held up by a system call of its own
					}
				} else {
					operate(t, l, op)
				}
				require.NoError(t, op.Err)
				require.Equal(t, want, ways(l).since(before), "fiber: %v", fiber)
				if op.Kind == fileop.Read {
					require.Equal(t, "2345", string(op.Buf))
				}
				if op.Kind == fileop.Open {
					require.NoError(t, syscall.Close(int(op.N)))
				}
				if op.Transfers() {
					require.EqualValues(t, 4, op.N)
				}
			}
		})
	}
}

// Law: what the ring refuses is done by a thread, its caller sees nothing of it, and for this
// file and this kind the ring is not asked again.
func TestWhatTheRingRefusesIsRememberedForTheFile(t *testing.T) {
	bad := openFile(t, "0123456789", os.O_RDWR)
	good := openFile(t, "0123456789", os.O_RDWR)
	c := refusing(slots(4, 2), func(op *lane.Op) bool { return op.File == bad })
	c.NoInline = true
	l := ring(t, c)
	before := ways(l)
	op := readOp(bad, 4, 2)
	operate(t, l, op)
	came(t, op, 4, nil)
	require.Equal(t, "2345", string(op.Buf))
	require.Equal(t, way{threads: 1, fallback: 1}, ways(l).since(before))
	before = ways(l)
	operate(t, l, op)
	came(t, op, 4, nil)
	require.Equal(t, way{threads: 1}, ways(l).since(before))
	before = ways(l)
	operate(t, l, readOp(good, 4, 2))
	require.Equal(t, way{served: 1}, ways(l).since(before))
}

// Law: what a thread cannot do either is no fault of the ring's, and nothing is remembered.
func TestWhatNobodyCanDoIsNotRemembered(t *testing.T) {
	f := openFile(t, "0123456789", os.O_RDWR)
	c := slots(4, 2)
	c.NoInline = true
	l := ring(t, c)
	op := readOp(f, 4, -5) // EINVAL of everybody
	operate(t, l, op)
	came(t, op, 0, syscall.EINVAL)
	require.Zero(t, f.Without.Load())
	operate(t, l, readOp(f, 4, 2))
	require.EqualValues(t, 1, l.Stats().Ring.Served)
}

// Law: of a Full transfer that the ring leaves half-way a thread does the rest.
func TestAThreadGoesOnWhereTheRingHasStopped(t *testing.T) {
	for _, batch := range []bool{false, true} {
		f := openFile(t, "0123456789", os.O_RDWR)
		calls := 0
		c := slots(4, 2).WithDriver(ringdriver.Config{Tamper: func(_ *lane.Op, res int32) int32 {
			if calls++; calls%2 == 1 {
				return min(res, 3)
			}
			return -int32(syscall.EOPNOTSUPP)
		}})
		c.NoInline = true
		l := ring(t, c)
		ops := []lane.Op{*readOp(f, 8, 1)}
		ops[0].Full = true
		if batch {
			require.NoError(t, l.OperateAll(context.Background(), lane.Call{}, ops))
		} else {
			operate(t, l, &ops[0])
		}
		came(t, &ops[0], 8, nil)
		require.Equal(t, "12345678", string(ops[0].Buf))
	}
}

// Law: a lane does everything whatever the ring lacks, and has one thread for it.
func TestEachOperationOfTheKernelMayBeMissing(t *testing.T) {
	all := []uring.Op{uring.OpNop, uring.OpTimeout, uring.OpRead, uring.OpWrite, uring.OpReadv, uring.OpWritev}
	masks := [][]uring.Op{nil, all}
	for _, op := range all {
		masks = append(masks, []uring.Op{op})
	}
	for _, mask := range masks {
		c := slots(4, 1).WithDriver(ringdriver.Config{Without: mask})
		c.NoInline = true
		l := ring(t, c)
		for _, op := range []*lane.Op{{}, {Kind: fileop.Sleep, Off: 1}} {
			missing := slices.Contains(mask, map[fileop.Kind]uring.Op{fileop.Nop: uring.OpNop, fileop.Sleep: uring.OpTimeout}[op.Kind])
			require.Equal(t, !missing, l.Capabilities().Native.Has(op))
		}
		program(t, l)
		require.NoError(t, l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) { programIn(ctx, t, l) }))
	}
}

func program(t *testing.T, l *lane.Ring) {
	t.Helper()
	programIn(context.Background(), t, l)
}

// programIn does a bit of everything.
func programIn(ctx context.Context, t *testing.T, l *lane.Ring) {
	t.Helper()
	f := openFile(t, "0123456789", os.O_RDWR)
	r, w := openPipe(t)
	do := func(op *lane.Op) *lane.Op {
		require.NoError(t, l.Operate(ctx, lane.Call{}, op))
		require.NoError(t, op.Err)
		return op
	}
	do(&lane.Op{})
	began := time.Now()
	do(&lane.Op{Kind: fileop.Sleep, Off: int64(time.Millisecond)})
	require.GreaterOrEqual(t, time.Since(began), time.Millisecond)
	do(writeOp(f, "abc", 3))
	require.Equal(t, "2abc6", string(do(readOp(f, 5, 2)).Buf))
	do(writeOp(w, "hello", fileop.AtPosition))
	require.Equal(t, "hello", string(do(readOp(r, 5, fileop.AtPosition)).Buf))
	op := readOp(f, 6, 0)
	op.More = &fileop.More{Bufs: [][]byte{op.Buf[:2], op.Buf[2:]}}
	require.Equal(t, "012abc", string(do(op).Buf))
	do(&lane.Op{Kind: fileop.Fdatasync, File: f})
	ops := []lane.Op{*readOp(f, 2, 0), *writeOp(f, "XY", 8), {}, *readOp(f, 3, 3), {Kind: fileop.Sleep, Off: 1}, {Kind: fileop.Fsync, File: f}}
	require.NoError(t, l.OperateAll(ctx, lane.Call{}, ops))
	for i := range ops {
		require.NoError(t, ops[i].Err)
	}
	require.Equal(t, "01", string(ops[0].Buf))
	require.Equal(t, "abc", string(ops[3].Buf))
	require.Equal(t, "XY", string(do(readOp(f, 2, 8)).Buf))
	short, cancel := context.WithCancel(ctx)
	cancel()
	err := l.Operate(short, lane.Call{}, &lane.Op{})
	if err == nil {
		return // a fiber has been admitted
	}
	require.ErrorIs(t, err, context.Canceled)
}

// Law: what the ring refuses while the lane is shut down is done all the same: it was admitted.
func TestWhatTheRingRefusesDuringAShutdownIsDone(t *testing.T) {
	for range count(200, 5000) {
		f := openFile(t, "0123456789", os.O_RDWR)
		var refused sync.WaitGroup
		asked := make(chan struct{}, 100)
		c := refusing(slots(8, 1), func(op *lane.Op) bool { asked <- struct{}{}; return true })
		c.NoInline = true
		l := ring(t, c)
		var done, turned int
		var mu sync.Mutex
		for range 8 {
			refused.Go(func() {
				op := readOp(&fileop.File{FD: f.FD, Seeks: true}, 4, 2)
				err := l.Operate(context.Background(), lane.Call{}, op)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && op.Err == nil && op.N == 4:
					done++
				case err != nil && !errors.Is(op.Err, ringdriver.ErrUnserved):
					turned++
				default:
					t.Error("admitted, and not done:", err, op.N, op.Err)
				}
			})
		}
		<-asked
		shut(t, l)
		refused.Wait()
		require.Equal(t, 8, done+turned)
	}
}
