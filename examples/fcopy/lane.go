package main

import (
	"context"
	"errors"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
)

// newPool makes the pool that everything is done by, and its lane.
func newPool(name string, depth int, buffers *file.Buffers) (*file.Pool, error) {
	l, err := newLane(name, depth)
	if err != nil {
		return nil, err
	}
	files, err := file.NewPool(file.Config{Lane: l, OwnsLane: true, Buffers: buffers})
	if err != nil { // so the lane is still ours
		return nil, errors.Join(err, l.Shutdown(context.Background()))
	}
	return files, nil
}

// newLane makes the lane on which everything is done, so many operations at a time. No
// other function knows which it is.
func newLane(name string, depth int) (lane.Lane, error) {
	c := lane.Config{Name: name, Workers: depth}
	switch name {
	case "ring": // where the system denies it, threads
		return lane.NewRing(lane.RingConfig{Config: c})
	case "abandoning": // Ctrl-C works although a disk does not answer; only that ends the wait
		return lane.NewAbandoning(lane.AbandoningConfig{Config: c, CallLimit: lane.NoLimit})
	case "pinned":
		return lane.NewPinned(lane.PinnedConfig{Config: c})
	case "inline": // without a bound of its own: the buffers are one
		return lane.NewInline(name), nil
	default:
		return lane.NewThreads(c)
	}
}
