package pool_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: an operation whose caller has left it shares nothing with it but the buffers, and
// keeps its share of the resource until it ends.
func TestALeftOperationSharesNothingButTheBuffers(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Grace: lane.NoGrace})
	require.NoError(t, err)
	p := makePool(t, pool.Config[*sheet]{Share: 2, Dispose: (*sheet).dispose, Lane: l, OwnsLane: true})
	r := &sheet{t: t}
	for _, all := range []bool{false, true} {
		id := adopt(t, p, r)
		r.disposed.Store(0)
		from, to, err := os.Pipe()
		require.NoError(t, err)
		ops := make([]lane.Op, 1)
		op := &ops[0]
		buf := make([]byte, 1)
		*op = lane.Op{Kind: fileop.Read, File: &fileop.File{FD: from.Fd()}, Buf: buf, Off: fileop.AtPosition}
		ctx, cancel := context.WithCancel(bg)
		left := start(func() error {
			if all {
				return p.OperateAll(ctx, []handle.ID{id}, ops)
			}
			return p.Operate(ctx, id, op, pool.Label("l"))
		})
		for p.Stats().Lane.Running == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		err = <-left
		e := typed(t, err)
		if e == nil || e.Effect != ioerr.Unknown || e.Outcome != ioerr.Cancelled || !errors.Is(err, ioerr.ErrLeft) {
			t.Fatalf("%v", err)
		}
		if all && op.Err != err || !all && op.Err != nil {
			t.Errorf("%v", op.Err)
		}
		*op = lane.Op{N: 7} // which the race detector sees if the call uses it
		require.NoError(t, p.Detach(id))
		require.Zero(t, r.disposed.Load())
		_, err = to.WriteString("x")
		require.NoError(t, err)
		for r.disposed.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		if op.N != 7 || string(buf) != "x" {
			t.Errorf("%+v, %q", op, buf)
		}
		_, _ = from.Close(), to.Close()
	}
	closes(t, p)
}
