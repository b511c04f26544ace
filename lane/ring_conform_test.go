package lane_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lane/lanetest"
)

// functions is what a Ring is for calls that need a thread.
type functions struct{ *lane.Ring }

func (f functions) Stats() lane.Stats {
	s := f.Ring.Stats().Shards[1]
	s.Name = f.Name()
	return s
}

func openRing(t testing.TB, c lane.Config) *lane.Ring {
	l, err := lane.NewRing(lane.RingConfig{Config: c, Threads: c.Workers, Required: true})
	require.NoError(t, err)
	return l
}

func TestRingKeepsTheLawsForFunctions(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		return functions{openRing(t, c)}
	}, lanetest.Options{})
}

// operations is what a Ring is for operations: each call is a fiber that reads from a
// pipe, which ends when the task has ended.
type operations struct{ *lane.Ring }

func (o operations) Stats() lane.Stats {
	s := o.Ring.Stats().Shards[0]
	s.Name = o.Name()
	return s
}

func (o operations) Try() (lane.Slot, bool) { return o.TryOperation() }

func (o operations) GiveUp(uint64, error) {}

func (o operations) Carry(ctx context.Context, c lane.Call, task lane.Task) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	var ended sync.WaitGroup
	err = o.Fiber(ctx, c, func(ctx context.Context) {
		ended.Go(func() {
			defer w.Close()
			task.Run(lane.Thread{})
		})
		op := &lane.Op{Kind: fileop.Read, File: &fileop.File{FD: r.Fd()}, Buf: make([]byte, 1), Off: fileop.AtPosition}
		c.Must = true // it waits for the task, which was admitted, also if that takes a thread of a lane that shuts down
		_ = o.Operate(context.WithoutCancel(ctx), c, op)
	})
	if err != nil {
		w.Close()
		return err
	}
	ended.Wait()
	task.End(false, nil)
	return nil
}

func TestRingKeepsTheLawsForOperations(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		return operations{openRing(t, c)}
	}, lanetest.Options{Carry: true, RealTime: true})
}
