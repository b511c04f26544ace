package contender

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/iolane/iolane/bench/fileio/internal/work"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
)

// operator is what the engines on a ring lane have in common.
type operator struct {
	lane *lane.Ring
	n    int
	huge bool
}

func newOperator(s setup) (operator, error) {
	l, err := newRing(slotsOf(s.Case))
	return operator{lane: l, n: s.Callers, huge: s.Huge}, err
}

// Buffers implements engine.
func (o operator) Buffers(n, size int) (work.Buffers, error) {
	return ringBuffers(o.lane, n, size, o.huge)
}

// Close implements engine.
func (o operator) Close() error { return shut(o.lane) }

// shut waits for what is in flight, but not for ever.
func shut(l lane.Lane) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return l.Shutdown(ctx)
}

// do is one operation by Operate.
func (o operator) do(ctx context.Context, op *fileop.Op) {
	if err := o.lane.Operate(ctx, lane.Call{}, op); err != nil {
		op.Err = err
	}
}

func ringGoroutineMaker() maker {
	return maker{
		name: "ring-goroutine", about: "any goroutine calls Operate of a ring lane", unfit: anyCase, missing: noRing,
		make: func(s setup) (engine, error) {
			o, err := newOperator(s)
			return &ringGoroutines{o}, err
		},
	}
}

// ringGoroutines has a goroutine for each slot of the source.
type ringGoroutines struct{ operator }

// Run implements engine.
func (e *ringGoroutines) Run(ctx context.Context, src *work.Source) error {
	each := &callers{n: e.n, bind: func(op *fileop.Op) func(context.Context) {
		return func(ctx context.Context) { e.do(ctx, op) }
	}}
	return each.Run(ctx, src)
}

func ringFiberMaker() maker {
	return maker{
		name: "ring-fiber", about: "coroutines beside the engine of a ring lane call Operate", unfit: anyCase, missing: noRing,
		make: func(s setup) (engine, error) {
			o, err := newOperator(s)
			return &ringFibers{o}, err
		},
	}
}

// ringFibers has a fiber for each slot of the source.
type ringFibers struct{ operator }

// Run implements engine.
func (e *ringFibers) Run(ctx context.Context, src *work.Source) error {
	src.Start()
	defer src.End()
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i := range e.n {
		all.Go(func() {
			err := e.lane.Fiber(ctx, lane.Call{}, func(ctx context.Context) {
				op := new(fileop.Op)
				for src.Next(i, op) {
					e.do(ctx, op)
					src.Done(i, op)
				}
			})
			if err != nil {
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// waves is how many times the slots of the lane both batches have together. More would cost
// the processor's cache more than it saves: each operation has a buffer of its own.
func waves(c work.Case) int {
	if c.Kind == work.Sleep {
		return 1
	}
	return 2
}

func ringBatchMaker() maker {
	return maker{
		name: "ring-batch", about: "two goroutines call OperateAll of a ring lane in turns, each with as many operations as there are slots",
		missing: noRing, untimed: true,
		unfit: func(c work.Case) string {
			if c.Shape == "goroutines" || c.Shape == "saturated" {
				return "is for few goroutines"
			}
			return ""
		},
		slots: func(c work.Case) int { return c.Slots * waves(c) },
		make: func(s setup) (engine, error) {
			o, err := newOperator(s)
			o.n = s.Slots * waves(s.Case)
			return &ringBatch{o}, err
		},
	}
}

// ringBatch has two goroutines, each of which gives half of the slots of the source
// something to do at once: while one looks at what came of it, the other's is in flight.
type ringBatch struct{ operator }

// Run implements engine.
func (e *ringBatch) Run(ctx context.Context, src *work.Source) error {
	src.Start()
	defer src.End()
	callers := min(2, e.n)
	failed := make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { failed[i] = e.batches(ctx, src, i*e.n/callers, (i+1)*e.n/callers) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// batches does what the slots from one to another have to do.
func (e *ringBatch) batches(ctx context.Context, src *work.Source, from, to int) error {
	ops := make([]fileop.Op, to-from)
	of := make([]int, 0, to-from) // of each operation: the slot of the source
	for {
		of = of[:0]
		for i := from; i < to; i++ {
			if src.Next(i, &ops[len(of)]) {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return nil
		}
		if err := e.lane.OperateAll(ctx, lane.Call{}, ops[:len(of)]); err != nil {
			return err
		}
		for n, i := range of {
			src.Done(i, &ops[n])
		}
	}
}
