package iolane_test

// What it costs to have a call run on the caller's goroutine, on one of its own, and on
// a thread of the lane's.

import (
	"context"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// BenchmarkLanes: calls that do nothing, one caller, on each kind of lane, through a
// pool (on Ring, those that need a thread); and on Pinned in batches, for one wake-up each.
// ns/call is to be compared.
func BenchmarkLanes(b *testing.B) {
	one := lane.Config{Workers: 4}
	for _, l := range []struct {
		name string
		make func() (lane.Lane, error)
	}{
		{"threads", func() (lane.Lane, error) { return lane.NewThreads(one) }},
		{"abandoning", func() (lane.Lane, error) { return lane.NewAbandoning(lane.AbandoningConfig{Config: one}) }},
		{"abandoning-interrupt", func() (lane.Lane, error) {
			return lane.NewAbandoning(lane.AbandoningConfig{Config: one, Interrupt: true})
		}},
		{"pinned", func() (lane.Lane, error) { return lane.NewPinned(lane.PinnedConfig{Config: one}) }},
		{"ring", func() (lane.Lane, error) { return lane.NewRing(lane.RingConfig{Config: one, Threads: 4}) }},
	} {
		b.Run(l.name, func(b *testing.B) {
			x, err := l.make()
			if err != nil {
				b.Skip(err) // interrupting is not for every platform
			}
			p := must(pool.New(pool.Config[struct{}]{Lane: x, OwnsLane: true}))
			defer p.Close()
			perCall(b, 1, func() error {
				_, err := pool.Offload(context.Background(), p, func(context.Context) (struct{}, error) { return struct{}{}, nil })
				return err
			})
		})
	}
	for _, batch := range []struct {
		name string
		size int
	}{{"pinned-batch1", 1}, {"pinned-batch16", 16}, {"pinned-batch100", 100}} {
		b.Run(batch.name, func(b *testing.B) {
			l := must(lane.NewPinned(lane.PinnedConfig{Config: one}))
			defer func() { _ = l.Shutdown(context.Background()) }()
			tasks := make([]lane.Task, batch.size)
			for i := range tasks {
				tasks[i] = empty{}
			}
			perCall(b, batch.size, func() error {
				n, err := l.CarryBatch(context.Background(), lane.Call{}, tasks)
				if err == nil && n != batch.size {
					err = ioerr.ErrInvalid
				}
				return err
			})
		})
	}
}

// perCall measures f, which makes so many calls.
func perCall(b *testing.B, calls int, f func() error) {
	b.ReportAllocs()
	began, n := time.Now(), 0
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
		n += calls
	}
	b.ReportMetric(float64(time.Since(began))/float64(n), "ns/call")
}

// empty is a task that does nothing.
type empty struct{}

func (empty) Run(lane.Thread)    {}
func (empty) Ending(error)       {}
func (empty) Left(time.Duration) {}
func (empty) End(bool, error)    {}
