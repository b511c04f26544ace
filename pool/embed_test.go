package pool_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// counted is a lane that embeds one of ours, with a way in and out of its own.
type counted struct {
	*lane.Threads
	entered, left atomic.Int32
}

func (l *counted) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	l.entered.Add(1)
	return l.Threads.Enter(ctx, c)
}

func (l *counted) Leave(s lane.Slot) {
	l.left.Add(1)
	l.Threads.Leave(s)
}

// A lane that embeds one of ours gets back every slot by its own Leave, and every call
// that waits comes by its own Enter; only Try is promoted, as documented.
func TestALaneThatEmbedsAnotherKeepsItsOwnWay(t *testing.T) {
	inner, err := lane.NewThreads(lane.Config{Workers: 1})
	require.NoError(t, err)
	l := &counted{Threads: inner}
	p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true})
	id := adopt(t, p, 1)
	succeeds(t, p.Do(bg, nothing))
	succeeds(t, p.With(bg, id, leave))
	require.EqualValues(t, 2, l.left.Load())
	gate := newGate()
	holder := start(func() error { return p.Do(bg, gate.pass) })
	gate.await(t, 1)
	waiter := start(func() error { return p.Do(bg, nothing) })
	for l.entered.Load() == 0 {
		runtime.Gosched()
	}
	gate.open()
	succeeds(t, <-holder)
	succeeds(t, <-waiter)
	require.EqualValues(t, 4, l.left.Load())
	closes(t, p)
}

// moody is a context whose n-th Err panics.
type moody struct {
	context.Context
	left *int
}

func (m moody) Err() error {
	if *m.left--; *m.left == 0 {
		panic("in no mood")
	}
	return m.Context.Err()
}

// A context that panics, whenever it is asked, costs no slot and no handle.
func TestAContextThatPanicsCostsNothing(t *testing.T) {
	for n := range 6 {
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1, Queue: lane.NoQueue, Policy: lane.FailFast}})
		id := adopt(t, p, 1)
		for _, full := range []bool{false, true} {
			var gate *gate
			var holder <-chan error
			if full {
				gate = newGate()
				holder = start(func() error { return p.Do(bg, gate.pass) })
				gate.await(t, 1)
			}
			ctx, cancel := context.WithCancel(bg)
			for _, call := range []func(context.Context) error{
				func(ctx context.Context) error { return p.With(ctx, id, leave) },
				func(ctx context.Context) error { return p.Do(ctx, nothing) },
			} {
				left := n
				func() {
					defer func() { _ = recover() }()
					_ = call(moody{ctx, &left})
				}()
			}
			cancel()
			if full {
				gate.open()
				succeeds(t, <-holder)
			}
			succeeds(t, p.With(bg, id, leave))
			succeeds(t, p.Do(bg, nothing))
		}
		closes(t, p)
	}
}

// A context kept beyond its call has ended, whatever the caller's was.
func TestAContextKeptBeyondItsCallHasEnded(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		for _, ctx := range []context.Context{context.WithValue(bg, keyType{}, 1), context.TODO(), deadlined(t)} {
			given := make(chan context.Context, 1)
			succeeds(t, p.Do(ctx, func(ctx context.Context) error { given <- ctx; return nil }))
			kept := <-given
			require.ErrorIs(t, kept.Err(), context.Canceled)
			<-kept.Done()
			require.Equal(t, ctx.Value(keyType{}), kept.Value(keyType{}))
		}
		closes(t, p)
	})
}
