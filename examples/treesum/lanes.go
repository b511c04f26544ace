package main

import (
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// newLane makes the lane that was asked for. window is how many files may be
// under way at a time: as many as the lane has workers and places in its queue,
// so that the lane is never short of work and never has to refuse any.
func (o *options) newLane() (l lane.Lane, window int, err error) {
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
			return nil, 0, &ioerr.ArgumentError{Name: "-workers", Value: o.workers, Reason: "must not be negative"}
		}
		return lane.NewInline(o.lane), max(o.workers, 1), nil
	case "sharded":
		l, err = lane.NewSharded(lane.ShardedConfig{Config: c})
	default:
		l, err = lane.NewThreads(c)
	}
	if err != nil {
		return nil, 0, err
	}
	return l, l.Stats().Workers + max(o.queue, 0), nil
}
