package pool_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a context that panics while its caller waits costs no slot, no handle and no entry in a list, whenever that is.
func TestAContextThatPanicsInLineCostsNothing(t *testing.T) {
	for n := 1; n < 9; n++ {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprint(n, done), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 2}})
					id := adopt(t, p, 1)
					busy := newGate()
					holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
					busy.await(t, 1)
					left := n
					panicked := false
					gone := make(chan struct{})
					ctx, cancel := context.WithCancel(notBackground)
					defer cancel()
					go func() {
						defer close(gone)
						defer func() { panicked = recover() != nil }()
						if done {
							_ = p.With(moodyDone{ctx, &left}, id, leave, pool.Label("moody"))
						} else {
							_ = p.With(moody{ctx, &left}, id, leave, pool.Label("moody"))
						}
					}()
					synctest.Wait()
					time.Sleep(time.Second)
					busy.open()
					succeeds(t, <-holder)
					<-gone
					if !panicked {
						_ = p.Close()
						return
					}
					s := p.Stats()
					if len(s.Waiting)+len(s.Running) != 0 {
						t.Errorf("n=%d done=%v: listed: %+v %+v", n, done, s.Waiting, s.Running)
					}
					if err := p.With(within(t, time.Minute), id, leave); err != nil {
						t.Errorf("n=%d done=%v: handle: %v", n, done, err)
					}
					if err := p.Do(within(t, time.Minute), nothing); err != nil {
						t.Errorf("n=%d done=%v: lane: %v", n, done, err)
					}
					if err := p.Shutdown(within(t, time.Minute)); err != nil {
						t.Errorf("n=%d done=%v: Shutdown: %v", n, done, err)
					}
				})
			})
		}
	}
}

// Law: nor does it hold up those behind it.
func TestAContextThatPanicsInLineHoldsUpNobody(t *testing.T) {
	for name, call := range map[string]func(p *pool.Pool[int], id handle.ID, ctx context.Context) error{
		"Do": func(p *pool.Pool[int], id handle.ID, ctx context.Context) error { return p.Do(ctx, nothing) },
		"Key": func(p *pool.Pool[int], id handle.ID, ctx context.Context) error {
			return p.Do(ctx, nothing, pool.Key("k"))
		},
		"With": func(p *pool.Pool[int], id handle.ID, ctx context.Context) error { return p.With(ctx, id, leave) },
	} {
		for _, cancels := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1}})
					id := adopt(t, p, 1)
					busy := newGate()
					holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
					busy.await(t, 1)
					var mood atomic.Bool
					inner, cancel := context.WithCancel(bg)
					defer cancel()
					gone := make(chan struct{})
					go func() {
						defer close(gone)
						defer func() { _ = recover() }()
						_ = call(p, id, moodyVar{inner, &mood, "Err"})
					}()
					synctest.Wait()
					mood.Store(true)
					if cancels {
						cancel()
						synctest.Wait()
					}
					behind := start(func() error { return p.With(within(t, time.Minute), id, leave) })
					synctest.Wait()
					busy.open()
					synctest.Wait()
					select {
					case err := <-holder:
						succeeds(t, err)
					default:
						t.Error("holder hangs")
					}
					time.Sleep(2 * time.Minute)
					succeeds(t, <-behind)
					if err := p.Do(within(t, time.Minute), nothing); err != nil {
						t.Errorf("after: %v", err)
					}
					if err := p.Shutdown(within(t, time.Minute)); err != nil {
						t.Errorf("Shutdown %v, %+v", err, p.Stats())
					}
				})
			})
		}
	}
}

// Law: a context that panics when asked for a value costs no handle on a lane that carries.
func TestAContextWithoutValuesCostsNoHandle(t *testing.T) {
	for name, mk := range carriers(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := makePool(t, pool.Config[int]{Lane: mk(), OwnsLane: true})
				defer func() { ignore(p.Shutdown(within(t, time.Second))) }()
				id := adopt(t, p, 1)
				ctx := mute{context.WithoutCancel(notBackground)}
				calm(func() { _ = p.OffloadOn(ctx, id, leave[int]) })
				if err := p.OffloadOn(bg, id, leave[int], pool.FailFast); err != nil {
					t.Errorf("OffloadOn: %v", err)
				}
			})
		})
	}
}

// Law: nor an opening.
func TestAContextWithoutValuesCostsNoOpening(t *testing.T) {
	for name, mk := range carriers(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := makePool(t, pool.Config[int]{Lane: mk(), OwnsLane: true})
				ctx := mute{context.WithoutCancel(notBackground)}
				calm(func() { _, _ = p.Register(ctx, func(context.Context) (int, error) { return 1, nil }) })
				if s := p.Stats(); s.Handles != 0 {
					t.Errorf("%d handles", s.Handles)
				}
				if err := p.Shutdown(within(t, time.Minute)); err != nil {
					t.Errorf("Shutdown: %v", err)
				}
			})
		})
	}
}

// Law: nor a Replace.
func TestAContextWithoutValuesCostsNoReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
		require.NoError(t, err)
		p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true})
		id := adopt(t, p, 1)
		ignore(p.With(bg, id, func(context.Context, int) error { return pool.Poison(errIO) }))
		ctx := mute{context.WithoutCancel(notBackground)}
		calm(func() { _ = p.Replace(ctx, id, func(context.Context, int) (int, error) { return 2, nil }) })
		if err := p.Replace(within(t, time.Minute), id, func(context.Context, int) (int, error) { return 2, nil }); err != nil {
			t.Errorf("%v", err)
		}
		_ = p.Shutdown(within(t, time.Minute))
	})
}
