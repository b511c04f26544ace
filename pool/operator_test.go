package pool_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// operating is a lane.Operator: it does operations on goroutines of its own, in slots of
// Threads.
type operating struct {
	*lane.Threads

	mu       sync.Mutex
	calls    []lane.Call
	contexts []context.Context
	inFiber  int // operations made in fibers
}

var _ lane.Operator = (*operating)(nil)

func newOperating(t testing.TB, c lane.Config) *operating {
	c.Name = laneName
	l, err := lane.NewThreads(c)
	require.NoError(t, err)
	return &operating{Threads: l}
}

func (l *operating) note(ctx context.Context, c lane.Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls, l.contexts = append(l.calls, c), append(l.contexts, ctx)
	if ctx.Value(fiberKey{}) != nil {
		l.inFiber++
	}
}

func (l *operating) last() (lane.Call, context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[len(l.calls)-1], l.contexts[len(l.contexts)-1]
}

// beside runs fn on a goroutine of its own, and does to the caller what it did.
func beside(fn func()) {
	done, ended := make(chan struct{}), false
	var panicked any
	go func() {
		defer close(done)
		defer func() {
			if !ended {
				panicked = recover()
			}
		}()
		fn()
		ended = true
	}()
	<-done
	switch {
	case ended:
	case panicked != nil:
		panic(panicked)
	default:
		runtime.Goexit()
	}
}

func (l *operating) Operate(ctx context.Context, c lane.Call, op *lane.Op) error {
	l.note(ctx, c)
	if ctx.Value(fiberKey{}) == nil {
		slot, err := l.Enter(ctx, c)
		if err != nil {
			return err
		}
		defer l.Leave(slot)
	}
	beside(func() { op.Do(ctx, nil) })
	return nil
}

func (l *operating) OperateAll(ctx context.Context, c lane.Call, ops []lane.Op) error {
	l.note(ctx, c)
	slot, err := l.Enter(ctx, c)
	if err != nil {
		return err
	}
	defer l.Leave(slot)
	var all sync.WaitGroup
	for i := range ops {
		all.Go(func() { ops[i].Do(ctx, nil) })
	}
	all.Wait()
	return nil
}

type fiberKey struct{}

// fiberContext is how the lane knows its fibers.
type fiberContext struct{ context.Context }

func (c fiberContext) Value(key any) any {
	if key == (fiberKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func (l *operating) Fiber(ctx context.Context, c lane.Call, fn func(context.Context)) error {
	l.note(ctx, c)
	slot, err := l.Enter(ctx, c)
	if err != nil {
		return err
	}
	defer l.Leave(slot)
	beside(func() { fn(fiberContext{ctx}) })
	return nil
}

// operators are the places of operations: those of calls, and lanes that do them.
var operators = append(places[:len(places):len(places)],
	place{name: "an operator", bounded: true, gated: true, shards: 1},
	place{name: "an operator, shared", bounded: true, gated: true, shared: true, shards: 1},
)

// operated tests a law of operations everywhere.
func operated(t *testing.T, n need, workers int, law func(t *testing.T, g *ground)) {
	t.Helper()
	for i, pl := range operators {
		if n.bounded && !pl.bounded {
			continue
		}
		if i >= len(places) {
			pl.make = func(c lane.Config) (lane.Lane, error) { return newOperating(t, c), nil }
		}
		t.Run(pl.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { law(t, pl.settle(t, lane.Config{Workers: workers})) })
		})
	}
}

// operator makes a pool on a lane.Operator of its own.
func operator[R any](t testing.TB, c pool.Config[R], workers int) (*pool.Pool[R], *operating) {
	l := newOperating(t, lane.Config{Workers: workers})
	c.Lane, c.OwnsLane = l, true
	return makePool(t, c), l
}

func sleep(d time.Duration) lane.Op { return lane.Op{Kind: fileop.Sleep, Off: int64(d)} }

// broken is an operation that fails.
func broken() lane.Op { return lane.Op{Kind: fileop.Kinds} }
