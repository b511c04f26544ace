package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// FuzzPool plays a sequence of operations, given as bytes, against a small model:
// what a call may end with, given what was done to it; who may run and who may
// wait; and in the end that everything was given back once.
func FuzzPool(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(script(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4 || len(data) > 400 {
			t.Skip()
		}
		synctest.Test(t, func(t *testing.T) { play(t, data) })
	})
}

// TestRandomOperations is what FuzzPool does, with what chance brings.
func TestRandomOperations(t *testing.T) {
	for range rounds(500, 100_000) {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) { play(t, script(seed)) })
		if t.Failed() {
			t.Fatalf("script(%d)", seed)
		}
	}
}

func script(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, 4+r.IntN(200))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// game is a pool in play. Everything is done by one goroutine, step by step; the
// calls themselves wait at gates.
type game struct {
	t       *testing.T
	shop    *shop
	p       *pool.Pool[*thing]
	ground  *ground
	handles []*target
	moves   []*move
	down    bool // a shutdown has begun
	log     []string
}

// target is a handle as the model knows it.
type target struct {
	id        handle.ID
	destroyed bool // or never there
}

// move is one call in the background.
type move struct {
	kind     string
	on       *target   // nil for none
	id       handle.ID // of a resource that it registered
	gate     chan struct{}
	released bool
	started  bool // the function of the call began
	worked   bool // and ended: what is left to wait for is a disposal
	ended    bool
	nested   bool // a nested call is on its way
	cancel   func()
	dead     bool      // its context was cancelled
	deadline time.Time // of its context
	accept   time.Time // of AcceptWithin
	failFast bool
	done     chan error
}

func play(t *testing.T, data []byte) {
	pl := places[int(data[0])%len(places)]
	g := &game{t: t, shop: newShop(t)}
	g.ground = pl.settle(t, lane.Config{
		Workers: 1 + int(data[1])%3, Queue: 1 + int(data[1]>>2)%3, Waiters: 1 + int(data[1]>>4)%3, Patience: time.Duration(int(data[1]>>6)-1) * time.Millisecond,
	})
	g.p = on(g.ground, pool.Config[*thing]{Dispose: g.shop.dispose, Waiters: 1 + int(data[2])%3, Patience: time.Duration(int(data[2]>>2)%3-1) * time.Millisecond})
	for rest := data[3:]; len(rest) >= 2 && !t.Failed(); rest = rest[2:] {
		g.step(rest[0], rest[1])
		synctest.Wait()
		g.look()
	}
	g.finish()
	if t.Failed() {
		t.Logf("%s: %q", pl.name, g.log)
	}
}

// step is one operation.
func (g *game) step(op, arg byte) {
	g.log = append(g.log, fmt.Sprint(op%13, ":", arg))
	switch op % 13 {
	case 0:
		if id, err := g.p.Adopt(g.shop.make()); err == nil {
			g.handles = append(g.handles, &target{id: id})
		} else {
			g.shop.made = g.shop.made[:len(g.shop.made)-1] // it stays ours
			g.legal(&move{kind: "adopt"}, err)
		}
	case 1:
		g.start("register", nil, arg, func(ctx context.Context, m *move, opts []pool.Option) (err error) {
			m.id, err = g.p.Register(ctx, func(ctx context.Context) (*thing, error) { return g.shop.make(), m.work(ctx) }, opts...)
			return err
		})
	case 2, 3, 4:
		g.start("with", g.pick(arg), arg, func(ctx context.Context, m *move, opts []pool.Option) error {
			return g.p.With(ctx, m.on.id, with(m.work), opts...)
		})
	case 5:
		g.start("do", nil, arg, func(ctx context.Context, m *move, opts []pool.Option) error { return g.p.Do(ctx, m.work, opts...) })
	case 6:
		inner := g.pick(arg >> 4)
		g.start("nested", g.pick(arg), arg, func(ctx context.Context, m *move, opts []pool.Option) error {
			return g.p.With(ctx, m.on.id, with(func(ctx context.Context) error {
				m.nested = true
				err := g.p.With(ctx, inner.id, with(nothing))
				if err != nil && !errors.Is(err, ioerr.ErrReentry) && !errors.Is(err, ioerr.ErrHandleNotFound) && !errors.Is(err, ioerr.ErrShutdown) && !m.dead {
					g.t.Errorf("a nested call ended with %v", err)
				}
				m.nested = false
				return m.work(ctx)
			}), opts...)
		})
	case 7:
		g.start("replace", g.pick(arg), arg, func(ctx context.Context, m *move, opts []pool.Option) error {
			return g.p.Replace(ctx, m.on.id, func(ctx context.Context, old *thing) (*thing, error) {
				old.use()
				defer old.done()
				return g.shop.make(), m.work(ctx)
			}, opts...)
		})
	case 8:
		at := g.pick(arg)
		at.destroyed = true
		g.start("destroy", at, arg, func(ctx context.Context, m *move, _ []pool.Option) error { return g.p.Destroy(ctx, m.on.id) })
	case 9, 10: // let one go on
		if m := g.some(arg, func(m *move) bool { return !m.released && !m.ended }); m != nil {
			m.released = true
			close(m.gate)
		}
	case 11:
		if m := g.some(arg, func(m *move) bool { return !m.ended }); m != nil {
			m.dead = true
			m.cancel()
		}
	case 12:
		if arg < 16 {
			g.down = true
			g.start("shutdown", nil, arg, func(ctx context.Context, _ *move, _ []pool.Option) error { return g.p.Shutdown(ctx) })
		} else {
			time.Sleep(time.Duration(arg) * 100 * time.Microsecond)
		}
	}
}

func (m *move) work(context.Context) error {
	m.started = true
	<-m.gate
	m.worked = true
	return nil
}

func (g *game) pick(arg byte) *target {
	if len(g.handles) == 0 {
		return &target{id: g.p.IDFromUint64(uint64(arg) << 32), destroyed: true} // generation zero is never given out
	}
	return g.handles[int(arg)%len(g.handles)]
}

func (g *game) some(arg byte, fits func(*move) bool) *move {
	var list []*move
	for _, m := range g.moves {
		if fits(m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[int(arg)%len(list)]
}

func (g *game) start(kind string, at *target, arg byte, do func(context.Context, *move, []pool.Option) error) {
	m := &move{kind: kind, on: at, gate: make(chan struct{}), done: make(chan error, 1)}
	g.moves = append(g.moves, m)
	ctx := bg
	var opts []pool.Option
	switch arg >> 5 {
	case 0:
		m.failFast = true
		opts = append(opts, pool.FailFast)
	case 1:
		m.accept = time.Now().Add(3 * time.Millisecond)
		opts = append(opts, pool.AcceptWithin(3*time.Millisecond))
	case 2:
		m.deadline = time.Now().Add(4 * time.Millisecond)
		ctx, m.cancel = context.WithDeadline(ctx, m.deadline)
	case 3:
		opts = append(opts, pool.Label(kind))
	}
	if m.cancel == nil {
		ctx, m.cancel = context.WithCancel(ctx)
	}
	go func() { m.done <- do(ctx, m, opts) }()
}
