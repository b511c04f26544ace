package pool_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a poisoned handle says so, also after a Replace that was slow or left.
func TestAPoisonedHandleSaysSoAfterASlowReplace(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Stuck: time.Second}})
		defer p.Close()
		id := adopt(t, p, 1)
		require.Error(t, p.With(bg, id, fails(pool.Poison(errIO))))
		require.Error(t, p.Replace(bg, id, func(context.Context, int) (int, error) { time.Sleep(2 * time.Second); return 0, errIO }))
		if err := p.With(bg, id, fails(nil)); !errors.Is(err, ioerr.ErrPoisoned) {
			t.Errorf("%v; health %v", err, p.Health(id))
		}
	})
}

// Law: the same, on a lane where callers leave.
func TestAPoisonedHandleSaysSoAfterAReplaceThatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{}) // no Health rules at all
		defer p.Close()
		id := adopt(t, p, 1)
		require.Error(t, p.With(bg, id, fails(pool.Poison(errIO))))
		require.Error(t, p.Replace(within(t, time.Second), id, func(context.Context, int) (int, error) { time.Sleep(time.Minute); return 0, errIO }))
		time.Sleep(time.Hour)
		if err := p.With(bg, id, fails(nil)); !errors.Is(err, ioerr.ErrPoisoned) {
			t.Errorf("%v; health %v", err, p.Health(id))
		}
	})
}

// Law: a Replace that waits for a probe is told of a shutdown and of the end of its handle.
func TestAReplaceThatWaitsForAProbeIsToldOfTheEnd(t *testing.T) {
	for name, end := range map[string]func(*pool.Pool[int], handle.ID) error{
		"shutdown": func(p *pool.Pool[int], _ handle.ID) error { return p.Shutdown(within(t, time.Second)) },
		"detach":   func(p *pool.Pool[int], id handle.ID) error { return p.Detach(id) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, id, gate, replaced := replaceWaits(t)
				_ = end(p, id)
				time.Sleep(time.Hour)
				synctest.Wait()
				select {
				case err := <-replaced:
					t.Log(err)
				default:
					t.Error("Replace still waits, an hour after the end of its handle")
					gate.open()
					ignore(<-replaced)
					_ = p.Close()
					return
				}
				gate.open()
				_ = p.Close()
			})
		})
	}
}

// Law: it obeys FailFast and AcceptWithin.
func TestAReplaceThatWaitsForAProbeObeysItsOptions(t *testing.T) {
	for name, o := range map[string]pool.Option{"FailFast": pool.FailFast, "AcceptWithin": pool.AcceptWithin(time.Second)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _, gate, replaced := replaceWaits(t, o)
				time.Sleep(time.Hour)
				select {
				case err := <-replaced:
					t.Log(err)
				default:
					t.Error("still waits after an hour")
				}
				gate.open()
				_ = p.Close()
			})
		})
	}
}

// Law: inside a call of the lane it does not wait for a probe that may wait for it.
func TestANestedReplaceDoesNotWaitForAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1},
			Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check:  func(int) error { return errIO }})
		id := adopt(t, p, 1)
		require.Error(t, p.With(bg, id, fails(errIO)))
		ctx, cancel := context.WithCancel(bg)
		call := start(func() error {
			return p.Do(ctx, func(ctx context.Context) error {
				time.Sleep(2 * time.Second) // the probe has come due
				return p.Replace(ctx, id, func(context.Context, int) (int, error) { return 2, nil })
			})
		})
		time.Sleep(time.Hour)
		select {
		case err := <-call:
			t.Log(err)
		default:
			t.Error("deadlock: the call waits for a probe, that waits for the call's slot")
			cancel()
			t.Log(<-call)
		}
		cancel()
		_ = p.Close()
	})
}

// Law: nor inside the probe itself.
func TestAReplaceInsideCheckDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *pool.Pool[int]
		var id handle.ID
		var ended atomic.Bool
		ctx, cancel := context.WithCancel(bg)
		p = makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 2},
			Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check: func(int) error {
				err := p.Replace(ctx, id, func(context.Context, int) (int, error) { return 2, nil })
				ended.Store(true)
				return err
			}})
		id = adopt(t, p, 1)
		require.Error(t, p.With(bg, id, fails(errIO)))
		time.Sleep(time.Hour)
		if !ended.Load() {
			t.Error("Replace inside Check never returns")
		}
		cancel()
		_ = p.Close()
	})
}

// Law: its context ends the wait.
func TestAReplaceThatWaitsForAProbeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, id, gate, replaced := replaceWaits(t)
		err := p.Replace(within(t, time.Second), id, func(context.Context, int) (int, error) { return 2, nil })
		if e := typed(t, err); e.Outcome != ioerr.TimedOut || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: %v", e.Outcome, err)
		}
		gate.open()
		ignore(<-replaced)
		_ = p.Close()
	})
}

// Law: Replaces that fail do not put off the next probe.
func TestReplacesThatFailDoNotPutOffTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int32
		p := makePool(t, pool.Config[int]{
			Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check:  func(int) error { checks.Add(1); return nil }})
		id := adopt(t, p, 1)
		require.Error(t, p.With(bg, id, fails(errIO)))
		for range 36000 {
			time.Sleep(100 * time.Millisecond)
			if p.Replace(bg, id, func(context.Context, int) (int, error) { return 0, errIO }) == nil {
				t.Error("?")
			}
			if checks.Load() > 0 {
				break
			}
		}
		if n := checks.Load(); n == 0 {
			t.Errorf("no probe in an hour, want one each second; health %v", p.Health(id))
		}
		closes(t, p)
	})
}

// Law: a resource that Replace finds fit, or repairs, is healthy.
func TestAResourceThatWasRepairedIsHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := makePool(t, pool.Config[*int]{})
		id := adopt(t, p, new(int))
		require.Error(t, p.With(bg, id, func(context.Context, *int) error { return pool.Poison(errIO) }))
		err := p.Replace(bg, id, func(_ context.Context, r *int) (*int, error) { *r = 1; return r, nil })
		if h := p.Health(id); err == nil && h != pool.Healthy {
			t.Errorf("Replace: %v, and %v", err, h)
		}
		closes(t, p)
	})
}
