package pool_test

import (
	"context"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a resource that is bound to the threads of a lane meets no other: it is opened,
// used and disposed of there.
func TestAResourceOnAPinnedLaneMeetsNoOtherThread(t *testing.T) {
	var mu sync.Mutex
	threads := make(map[int]bool)
	here := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		if !threads[syscall.Gettid()] {
			t.Errorf("%s on a thread that is not the lane's", what)
		}
	}
	pc := lane.PinnedConfig{Config: lane.Config{Workers: 3}, Start: func(int) error {
		mu.Lock()
		defer mu.Unlock()
		threads[syscall.Gettid()] = true
		return nil
	}}
	p := pinned(t, pool.Config[int]{Dispose: func(int) error { here("disposed of"); return nil }}, pc)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 20 {
				id, err := p.Register(bg, func(context.Context) (int, error) { here("opened"); return i, nil })
				if err != nil {
					t.Error(err)
					return
				}
				succeeds(t, second(pool.OffloadOn(bg, p, id, func(ctx context.Context, _ int) (int, error) {
					here("used")
					if th, ok := lane.ThreadOf(ctx); ok && k%5 == 0 {
						th.Taint()
					}
					return 0, nil
				})))
				if k%2 == 0 {
					succeeds(t, p.Destroy(bg, id))
				}
			}
		})
	}
	wg.Wait()
	closes(t, p)
	if s := p.Stats(); s.Disposed != 8*20 || s.DisposeFailed != 0 {
		t.Errorf("%+v", s)
	}
	require.Greater(t, len(threads), 3)
}
