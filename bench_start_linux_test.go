package iolane_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// BenchmarkStart: one caller has 100 calls made that sleep in the kernel for 5 ms each, all at
// a time, on lanes that run calls in other goroutines than the caller's: by a group, beside
// 100 goroutines that each make one call. What is ideal is 5 ms.
func BenchmarkStart(b *testing.B) {
	const calls, each = 100, 5 * time.Millisecond
	c := lane.Config{Workers: calls}
	call := func(context.Context) error { return nanosleep(each) }
	for _, l := range []struct {
		name string
		make func() (lane.Lane, error)
	}{
		{"threads", func() (lane.Lane, error) { return lane.NewThreads(c) }},
		{"abandoning", func() (lane.Lane, error) { return lane.NewAbandoning(lane.AbandoningConfig{Config: c}) }},
		{"pinned", func() (lane.Lane, error) { return lane.NewPinned(lane.PinnedConfig{Config: c}) }},
	} {
		for _, by := range []struct {
			name string
			all  func(*testing.B, *pool.Pool[struct{}], *pool.Group)
		}{
			{"group", func(b *testing.B, _ *pool.Pool[struct{}], g *pool.Group) {
				for range calls {
					if err := g.Go(context.Background(), call); err != nil {
						b.Fatal(err)
					}
				}
				if err := g.Wait(context.Background()); err != nil {
					b.Fatal(err)
				}
			}},
			{"callers", func(b *testing.B, p *pool.Pool[struct{}], _ *pool.Group) {
				var all sync.WaitGroup
				for range calls {
					all.Go(func() {
						if err := p.Offload(context.Background(), call); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}},
		} {
			b.Run(fmt.Sprintf("%s/%s", l.name, by.name), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + calls))
				p := must(pool.New(pool.Config[struct{}]{Lane: must(l.make()), OwnsLane: true}))
				defer p.Close()
				g := must(p.Group(pool.GroupConfig{}))
				by.all(b, p, g) // the first makes the threads
				for b.Loop() {
					by.all(b, p, g)
				}
			})
		}
	}
}
