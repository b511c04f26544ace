package pool_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: everything at once: nothing is lost, nothing disposed of twice, and the shutdown ends.
func TestEverythingAtOnce(t *testing.T) {
	us := func(n int) time.Duration { return time.Duration(rand.IntN(n)) * time.Microsecond }
	for round := range rounds(8, 200) {
		shop := newShop(t)
		var lost, kinds atomic.Int64
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 3, Queue: 4, Waiters: 4}, CallLimit: 300 * time.Microsecond, Grace: 50 * time.Microsecond, Left: 2, Interrupt: round%3 == 0 && runtime.GOOS == "linux"})
		require.NoError(t, err)
		p := makePool(t, pool.Config[*thing]{Lane: l, OwnsLane: round%2 == 0, HookWithin: 100 * time.Microsecond, Unguarded: round%5 == 4,
			Dispose: func(r *thing) error { err := shop.dispose(r); time.Sleep(us(200)); return err },
			Health:  pool.HealthRules{Stuck: 200 * time.Microsecond, Slow: 100 * time.Microsecond, Bad: func(err error) bool { return err == errIO }, Down: 2, Probe: 50 * time.Microsecond},
			Watch:   pool.Watch{Slow: 100 * time.Microsecond, Queue: 100 * time.Microsecond, Wedged: 200 * time.Microsecond},
			OnEvent: func(e pool.Event) {
				kinds.Add(1)
				switch rand.IntN(200) {
				case 0:
					panic("event")
				case 1:
					runtime.Goexit()
				}
			},
			Interrupt: func(*thing) {
				switch rand.IntN(10) {
				case 0:
					panic("interrupt")
				case 1:
					runtime.Goexit()
				default:
					time.Sleep(us(300))
				}
			},
			Check: func(r *thing) error {
				r.use()
				defer r.done()
				time.Sleep(us(300))
				switch rand.IntN(6) {
				case 0:
					return errIO
				case 1:
					panic("check")
				case 2:
					runtime.Goexit()
				}
				return nil
			}})
		ids := make([]atomic.Uint64, 4)
		for i := range ids {
			ids[i].Store(adopt(t, p, shop.make()).Uint64())
		}
		pick := func() handle.ID { return p.IDFromUint64(ids[rand.IntN(len(ids))].Load()) }
		var wg sync.WaitGroup
		end := time.Now().Add(time.Duration(rounds(100, 1200)) * time.Millisecond)
		halt := atomic.Bool{}
		for range 8 {
			wg.Go(func() {
				for time.Now().Before(end) && !halt.Load() {
					id := pick()
					ctx, cancel := context.WithTimeout(bg, us(400))
					if rand.IntN(4) == 0 {
						ctx = bg
					}
					body := func(ctx context.Context) error {
						switch d := rand.IntN(40); {
						case d < 4:
							time.Sleep(us(600))
						case d == 5:
							return pool.Poison(errIO)
						case d == 6:
							panic("call")
						case d < 10:
							return errIO
						}
						return nil
					}
					fn := with(body)
					off := func(ctx context.Context, r *thing) (*thing, error) {
						if err := fn(ctx, r); err != nil {
							return nil, err
						}
						return shop.make(), nil
					}
					undo := pool.Undo(func(r *thing) error { return shop.dispose(r) })
					switch rand.IntN(12) {
					case 0, 1:
						_ = p.With(ctx, id, fn)
					case 2, 3:
						r, err := pool.OffloadOn(ctx, p, id, off, undo, pool.Label("x"))
						if err == nil {
							_ = shop.dispose(r)
						}
					case 4:
						r, err := pool.Offload(ctx, p, func(ctx context.Context) (*thing, error) {
							if err := body(ctx); err != nil {
								return nil, err
							}
							return shop.make(), nil
						}, undo)
						if err == nil {
							_ = shop.dispose(r)
						}
					case 5:
						_ = p.Replace(ctx, id, func(ctx context.Context, _ *thing) (*thing, error) {
							if err := body(ctx); err != nil {
								return nil, err
							}
							return shop.make(), nil
						})
					case 6:
						i := rand.IntN(len(ids))
						if nid, err := p.Register(ctx, func(ctx context.Context) (*thing, error) {
							if err := body(ctx); err != nil {
								return nil, err
							}
							return shop.make(), nil
						}); err == nil {
							old := ids[i].Swap(nid.Uint64())
							if rand.IntN(2) == 0 {
								_ = p.Detach(p.IDFromUint64(old))
							} else {
								_ = p.Destroy(ctx, p.IDFromUint64(old))
							}
						}
					case 7:
						_ = p.Dump(discard{})
						_ = p.Stats()
					case 8:
						_ = p.Do(ctx, body)
					case 9:
						if round%5 == 4 {
							break // would wait for itself, as documented
						}
						_ = p.With(ctx, id, with(func(ctx context.Context) error {
							return p.With(ctx, pick(), with(nothing))
						}))
					case 10:
						if rand.IntN(20000) == 0 && round%5 != 4 {
							c, cc := context.WithTimeout(bg, us(500))
							_ = p.Shutdown(c)
							cc()
							halt.Store(true)
						}
					}
					cancel()
				}
			})
		}
		waited := make(chan struct{})
		go func() { wg.Wait(); close(waited) }()
		select {
		case <-waited:
		case <-time.After(20 * time.Second):
			_ = p.Dump(t.Output())
			buf := make([]byte, 1<<20)
			t.Fatalf("callers hang\n%s", buf[:runtime.Stack(buf, true)])
		}
		ctx, cancel := context.WithTimeout(bg, 10*time.Second)
		_ = p.Shutdown(ctx)
		cancel()
		if p.Stats().State != pool.Closed {
			_ = p.Dump(t.Output())
			buf := make([]byte, 1<<20)
			t.Fatalf("not closed: %v\n%s", p.Shutdown(ctx), buf[:runtime.Stack(buf, true)])
		}
		if s := p.Stats(); s.Unwell != 0 || len(s.Running) != 0 || len(s.Waiting) != 0 {
			t.Errorf("%+v", s)
		}
		if round%2 != 0 {
			require.NoError(t, l.Shutdown(bg))
		}
		hooksEnd(t, p)
		shop.allBack()
		_ = lost.Load()
		t.Logf("round %d: %d events, %d missed", round, kinds.Load(), p.Stats().EventsMissed)
		if t.Failed() {
			return
		}
	}
}
