package lane_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/uring"
	"github.com/iolane/iolane/lane"
)

// file opens a new file of so many bytes.
func newFile(t testing.TB, size int) *fileop.File {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	require.NoError(t, f.Truncate(int64(size)))
	t.Cleanup(func() { f.Close() })
	return &fileop.File{FD: f.Fd(), Name: f.Name(), Seeks: true}
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

func TestWhatTheRingLeavesOfAMixedBatchIsDoneWhole(t *testing.T) {
	l := openRing(t, lane.Config{Workers: 16})
	defer func() { require.NoError(t, l.Shutdown(context.Background())) }()
	file := newFile(t, 10)
	batch := func() (ops []lane.Op) {
		for range 4 {
			ops = append(ops, lane.Op{Kind: fileop.Fsync, File: file},
				lane.Op{Kind: fileop.Read, File: file, Buf: make([]byte, 1), Off: -5}) // the ring refuses that
		}
		return ops
	}
	check := func(ops []lane.Op) {
		for i, op := range ops {
			if op.Kind == fileop.Fsync {
				require.NoError(t, op.Err)
			} else {
				require.Equal(t, syscall.EINVAL, op.Err, "%d", i)
			}
		}
	}
	ops := batch()
	require.NoError(t, l.OperateAll(context.Background(), lane.Call{}, ops))
	check(ops)
	ops = batch()
	require.NoError(t, l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) {
		_ = l.OperateAll(ctx, lane.Call{}, ops)
	}))
	check(ops)
}

func TestManyPiecesAreNoReasonToDoWithoutTheRing(t *testing.T) {
	l := openRing(t, lane.Config{Workers: 16})
	defer func() { require.NoError(t, l.Shutdown(context.Background())) }()
	file := newFile(t, 4000)
	bufs := make([][]byte, 2000)
	for i := range bufs {
		bufs[i] = make([]byte, 2)
	}
	op := &lane.Op{Kind: fileop.Read, Full: true, File: file, More: &fileop.More{Bufs: bufs}}
	require.NoError(t, l.Operate(context.Background(), lane.Call{}, op))
	require.NoError(t, op.Err)
	require.EqualValues(t, 4000, op.N)
	require.Zero(t, file.Without.Load())
	require.Zero(t, l.Stats().Ring.Fallback)
}

func TestAShutdownWithoutTimeEndsAllRings(t *testing.T) {
	l, err := lane.NewRing(lane.RingConfig{Config: lane.Config{Workers: 4}, Rings: 4, Required: true})
	require.NoError(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = l.Shutdown(ended)
	require.Eventually(t, func() bool { return uring.Alive() == 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, l.Shutdown(context.Background()))
}

func TestAFiberNeverWaitsForTheKeyThatItHolds(t *testing.T) {
	l := openRing(t, lane.Config{Workers: 4, PerKey: 1})
	file := newFile(t, 10)
	for _, kind := range []fileop.Kind{fileop.Nop, fileop.Fsync} {
		within(t, kind.String(), func() {
			c := lane.Call{Key: "k"}
			err := l.Fiber(context.Background(), c, func(ctx context.Context) {
				op := &lane.Op{Kind: kind, File: file}
				if err := l.Operate(ctx, c, op); err != nil {
					t.Error(err)
				}
				ops := make([]lane.Op, 2)
				ops[0], ops[1] = *op, *op
				if err := l.OperateAll(ctx, c, ops); err != nil {
					t.Error(err)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	require.NoError(t, l.Shutdown(context.Background()))
}

func TestAnOperationThatLacksSomethingFailsAlone(t *testing.T) {
	l, err := lane.NewRing(lane.RingConfig{Config: lane.Config{Workers: 4}, Required: true, NoInline: true})
	require.NoError(t, err)
	ctx := context.Background()
	var all []lane.Op
	for kind := range fileop.Kinds {
		if kind == fileop.Nop || kind == fileop.Sleep {
			continue
		}
		all = append(all, lane.Op{Kind: kind, Buf: make([]byte, 1)})
		op := all[len(all)-1]
		require.NoError(t, l.Operate(ctx, lane.Call{}, &op))
		require.Equal(t, syscall.EINVAL, op.Err, kind)
	}
	require.NoError(t, l.OperateAll(ctx, lane.Call{}, all))
	for _, op := range all {
		require.Equal(t, syscall.EINVAL, op.Err, op.Kind)
	}
	within(t, "shutdown", func() { _ = l.Shutdown(ctx) })
}
