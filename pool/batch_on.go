package pool

import (
	"context"
	"errors"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// BatchOn is many calls on one resource in one transaction: one turn in the line of the
// handle, one place in the lane, one hand-over. It is made by [NewBatchOn]; its room is
// allocated once. Add notes a call, Run makes those that are noted, Next takes out results.
// A BatchOn is for one goroutine at a time.
type BatchOn[T, R any] struct {
	tray  tray[T]
	pool  *Pool[R]
	id    handle.ID
	noted []noted[T, R]
	here  *series[T, R] // what is run by the caller
	runs  bool
}

type noted[T, R any] struct {
	slot int
	fn   func(context.Context, R) (T, error)
}

// NewBatchOn makes a batch of so many slots, at least one, for calls on the resource of id. The
// error is an *ioerr.ArgumentError, or ErrShutdown.
func NewBatchOn[T, R any](p *Pool[R], id handle.ID, size int) (*BatchOn[T, R], error) {
	c := p.own()
	if err := new(stay).check(context.Background(), c, ""); err != nil {
		return nil, err
	}
	if size < 1 || size > maxBatch {
		return nil, c.bad("size", size, "must be 1 to 2^24")
	}
	b := &BatchOn[T, R]{pool: p, id: id, noted: make([]noted[T, R], 0, size)}
	b.tray.init(size)
	b.here = newSeries[T, R](c, id, size)
	return b, nil
}

// Add notes a call for the next Run, and returns its slot. The error is ErrBatchFull if every
// slot holds a call or a result.
func (b *BatchOn[T, R]) Add(fn func(context.Context, R) (T, error)) (slot int, err error) {
	if b == nil || b.pool == nil {
		return -1, argument("b", "pool.BatchOn", "was not made by pool.NewBatchOn")
	}
	if fn == nil {
		return -1, b.pool.bad("fn", nil, "must not be nil")
	}
	slot, ok := b.tray.take()
	if !ok {
		return -1, b.pool.full("")
	}
	b.noted = append(b.noted, noted[T, R]{slot, fn})
	return slot, nil
}

// Run makes the calls that are noted, in order, within one [Transact] (one [OffloadOn] on a
// lane.Carrier), and returns how many results are ready. The error is that of calls which have
// not run, since they were refused together: they stay noted. If it holds an
// *ioerr.RestoreError, they have run, and the thread (lane.Pinned) could not be put back.
//
// Each result has the error of its call. One that panics fails alone. When ctx ends, or a call
// has poisoned the resource, those that have not begun do not run, and are told why. If the
// caller leaves them (lane.Abandoning), all have the error that says so. A call may add others
// to the batch, for the next Run, but not run them (ErrReentry).
func (b *BatchOn[T, R]) Run(ctx context.Context, opts ...Option) (ready int, err error) {
	if b == nil || b.pool == nil {
		return 0, argument("b", "pool.BatchOn", "was not made by pool.NewBatchOn")
	}
	c := &b.pool.core
	if b.runs {
		return b.tray.n, c.refuse(ctx, ioerr.ErrReentry, ioerr.Handle, callOf(opts).Label, b.id)
	}
	if len(b.noted) == 0 {
		return b.tray.n, new(stay).check(ctx, c, "")
	}
	s := b.here
	if c.carrier != nil { // it may go on without its caller
		s = newSeries[T, R](c, b.id, len(b.noted))
	}
	s.calls, s.label = append(s.calls[:0], b.noted...), callOf(opts).Label
	var told error
	b.runs = true
	defer func() { // also if a call ends the goroutine
		b.runs = false
		b.settle(s, told)
		ready = b.tray.n
	}()
	if c.carrier != nil {
		_, told = OffloadOn(ctx, b.pool, b.id, s.run, opts...)
	} else {
		_, told = Transact(ctx, b.pool, b.id, s.run, opts...)
	}
	if _, spoilt := errors.AsType[*ioerr.RestoreError](told); spoilt || effect(told) == ioerr.None {
		return 0, told
	}
	return 0, nil
}

func effect(err error) ioerr.Effect {
	if e, ok := errors.AsType[*ioerr.Error](err); ok {
		return e.Effect
	}
	return ioerr.Done
}

// settle puts the results where they belong. What has none stays noted. err is that of the
// transaction.
func (b *BatchOn[T, R]) settle(s *series[T, R], err error) {
	var done []Result[T]
	if effect(err) == ioerr.Unknown { // s goes on
		done = make([]Result[T], len(b.noted))
		for i := range done {
			done[i].Err = err
		}
	} else {
		done = s.results
	}
	for i := range done {
		b.tray.put(b.noted[i].slot, done[i].Value, done[i].Err)
		done[i] = Result[T]{}
	}
	rest := copy(b.noted, b.noted[len(done):])
	clear(b.noted[rest:])
	b.noted = b.noted[:rest]
	if s == b.here {
		clear(s.calls)
		s.results = s.results[:0]
	}
}

// Next takes out the result that has been ready for longest, and its slot is free again. It
// reports false if there is none.
func (b *BatchOn[T, R]) Next() (Result[T], bool) {
	if b == nil || b.pool == nil {
		return Result[T]{}, false
	}
	return b.tray.next()
}

// series is one transaction of a batch.
type series[T, R any] struct {
	core    *core
	id      handle.ID
	label   string
	calls   []noted[T, R]
	results []Result[T] // of those that have ended, in order
	run     func(context.Context, R) (struct{}, error)
}

func newSeries[T, R any](c *core, id handle.ID, size int) *series[T, R] {
	s := &series[T, R]{core: c, id: id, calls: make([]noted[T, R], 0, size), results: make([]Result[T], 0, size)}
	s.run = s.all
	return s
}

// all makes the calls. Its error, which the transaction tells and counts, is that of the one
// that has poisoned the resource, or of the first that has failed; each result has its own.
func (s *series[T, R]) all(ctx context.Context, r R) (none struct{}, told error) {
	var poisoned time.Time
	for i := range s.calls {
		if err := s.refusal(ctx, poisoned, told); err != nil {
			s.results = append(s.results, Result[T]{Err: err})
			continue
		}
		v, err := s.one(ctx, r, i)
		if err == nil {
			s.results = append(s.results, Result[T]{Value: v})
			continue
		}
		e := s.core.failure(err, s.label, s.id)
		s.results = append(s.results, Result[T]{Value: v, Err: e})
		bad := poisonIn(err) != nil
		if told != nil {
			_ = s.core.count(e)
		}
		if bad {
			poisoned = time.Now()
		}
		if told == nil || bad {
			told = err
		}
	}
	return none, told
}

// refusal is why the next call is not made, if it is not.
func (s *series[T, R]) refusal(ctx context.Context, poisoned time.Time, told error) error {
	switch {
	case !poisoned.IsZero():
		return s.core.refuse(ctx, &ioerr.UnfitError{Err: ioerr.ErrPoisoned, Age: time.Since(poisoned), Cause: told}, ioerr.Handle, s.label, s.id)
	case ctx.Err() != nil:
		return s.core.refuse(ctx, ctx.Err(), ioerr.Executor, s.label, s.id)
	}
	return nil
}

// one makes a call. A panic is its error. If it ends the goroutine, so is that, and those
// after it do not run.
func (s *series[T, R]) one(ctx context.Context, r R, i int) (v T, err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		p := recover()
		if err = unwoundBy(p); p != nil {
			s.core.counts.panicked.Add(1)
			return
		}
		s.results = append(s.results, Result[T]{Err: s.core.failure(err, s.label, s.id)})
	}()
	v, err = s.calls[i].fn(ctx, r)
	returned = true
	return v, err
}
