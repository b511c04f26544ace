package main

import (
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// newLane makes the lane that was asked for. calls is how many run at a time, and
// window how many files may be under way: as many as the lane has workers and
// places in its queue, so that it is never short of work and has to refuse none.
func (o *options) newLane() (l lane.Lane, calls, window int, err error) {
	c := lane.Config{
		Name:    o.lane,
		Workers: o.workers,
		Queue:   o.queue,
		// Without a queue the walk still has to wait for its turn, and the queues of
		// shards fill unevenly.
		Waiters: 1 << 16,
	}
	if o.queue == 0 {
		c.Queue = lane.NoQueue
	}
	switch o.lane {
	case "inline":
		// An inline lane has no bounds of its own: the window is all there is.
		if o.workers < 0 {
			return nil, 0, 0, &ioerr.ArgumentError{Name: "-workers", Value: o.workers, Reason: "must not be negative"}
		}
		calls = max(o.workers, 1)
		return lane.NewInline(o.lane), calls, calls, nil
	case "sharded":
		l, err = lane.NewSharded(lane.ShardedConfig{Config: c})
	default:
		l, err = lane.NewThreads(c)
	}
	if err != nil {
		return nil, 0, 0, err
	}
	calls = l.Stats().Workers
	return l, calls, calls + max(o.queue, 0), nil
}
