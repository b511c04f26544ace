package pool

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// OperateAll has many operations done at the same time, as far as the lane allows, in no
// order, and returns when all have ended. ids has the resource of each; the zero ID and
// the same one several times are fine.
//
// Each resource is leased once, for all operations that use it: so they may run at the
// same time, whatever Config.Share is, and no other call comes between. Then a
// lane.Operator does all of them as one call that takes up several slots. On any other
// lane each is a call of its own, on the caller's goroutine or one of as many as the lane
// has slots; inside a call of the lane they are done one after the other. On a
// lane.Carrier, where an operation may be left, each leases its resource for itself, as
// with [Pool.Operate]. Config.Interrupt is not called but on a lane.Carrier.
//
// The error is nil if none was refused or left; otherwise it is the first refusal, as for
// Operate. Each op.Err says what came of it: of one that was refused, left, or called off an
// *ioerr.Error, as Operate returns it, and else bare. Each that fails counts in Stats.
func (p *Pool[R]) OperateAll(ctx context.Context, ids []handle.ID, ops []lane.Op, opts ...Option) error {
	c := p.own()
	var s stay
	err := s.check(ctx, c, "")
	if err == nil && len(ids) != len(ops) {
		err = c.bad("ids", len(ids), "must be as many as ops")
	}
	switch {
	case err != nil || len(ops) == 0:
	case c.native == nil && c.carrier != nil:
		return p.oneByOne(ctx, &s, ops, func(i int) (bool, error) { return p.carry(ctx, ids[i], &ops[i], opts) })
	default:
		return p.operateAll(ctx, &s, ids, ops, opts)
	}
	return refuseAll(ops, err)
}

func refuseAll(ops []lane.Op, err error) error {
	if err != nil {
		for i := range ops {
			ops[i].Err = err
		}
	}
	return err
}

// loan is a lease that several operations have a part in. at is where they run: for
// exclusive use a site beside that of the lease, whose verdict is for one call at a time.
type loan[R any] struct {
	registry.Lease[resource[R]]
	at *site
}

// operateAll leases what is needed and has everything done.
func (p *Pool[R]) operateAll(ctx context.Context, s *stay, ids []handle.ID, ops []lane.Op, opts []Option) error {
	c := s.core
	loans := make([]loan[R], 0, 4)
	defer func() {
		for _, l := range loans {
			p.giveBack(l.Lease)
		}
	}()
	defer s.leave()
	for _, id := range inOrder(ids) {
		lease, err := p.borrow(ctx, id, s, opts)
		if err != nil {
			return refuseAll(ops, err)
		}
		loans = append(loans, loan[R]{lease, p.loanedAt(lease)})
	}
	at := func(i int) *site {
		if ids[i].IsZero() {
			return &c.here
		}
		n, _ := slices.BinarySearchFunc(loans, ids[i], func(l loan[R], id handle.ID) int { return compareIDs(l.ID, id) })
		return loans[n].at
	}
	if c.native == nil {
		s.unlist()
		err := p.oneByOne(ctx, s, ops, func(i int) (bool, error) {
			ran := false
			_, err := run(ctx, c, at(i), &stay{until: s.until, unjudged: true}, func(ctx context.Context) (struct{}, error) {
				ran = true
				return struct{}{}, c.do(ctx, &ops[i])
			}, opts)
			return ran, err
		})
		p.judgeAll(loans, ids, ops)
		return err
	}
	lc := callOf(opts)
	where := &c.here
	if len(loans) == 1 {
		where = loans[0].at
	}
	inner := s.forOps(ctx, where)
	s.unjudged = true
	if err := s.hand(ctx, where, &lc, runs, func() error { return c.native.OperateAll(inner, lc, ops) }); err != nil {
		return refuseAll(ops, err)
	}
	s.begun = true
	for i := range ops {
		op := &ops[i]
		if op.Err == nil {
			continue
		}
		if err := at(i).failed(failureOf(inner, op), lc.Label); op.WasCalledOff() {
			op.Err = err
		}
	}
	p.judgeAll(loans, ids, ops)
	return nil
}

// inOrder is each ID once, without the zero one, in the order in which everybody leases
// several: so nobody waits in a circle. (A call that waits for nothing but the lane is no
// part of one, and one that runs there waits for no handle; see borrow.)
func inOrder(ids []handle.ID) []handle.ID {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	return slices.DeleteFunc(ids, handle.ID.IsZero)
}

func compareIDs(a, b handle.ID) int {
	return cmp.Or(cmp.Compare(a.Scope(), b.Scope()), cmp.Compare(a.Uint64(), b.Uint64()))
}

// loanedAt is the site of operations that share a lease. What they would note at the
// lease's own, which is for one call at a time, is noted by judgeAll when all have ended.
// With shares nobody notes anything there: poison is told at once.
func (p *Pool[R]) loanedAt(l registry.Lease[resource[R]]) *site {
	at := p.siteOf(l)
	if p.shared {
		return at
	}
	apart := &site{opening: true, poison: func(error) {}} // no call here writes the verdict
	apart.init(&p.core, l.ID)
	return apart
}

// judgeAll notes what the operations have to say about their resources. The first that
// speaks against one counts.
func (p *Pool[R]) judgeAll(loans []loan[R], ids []handle.ID, ops []lane.Op) {
	if p.shared {
		return
	}
	for _, l := range loans {
		at := l.Resource.site
		for i := range ops {
			op := &ops[i]
			if _, refused := errors.AsType[*ioerr.Error](op.Err); ids[i] != l.ID || refused {
				continue
			}
			v, failure := &at.verdict, failureOf(context.Background(), op)
			if p.judges {
				v.told, v.given = true, true
			}
			if failure != nil && v.poison == nil && (!v.bad || poisonIn(failure) != nil) {
				at.blame(failure)
			}
		}
	}
}

// oneByOne has operations done that are calls of their own, by as many goroutines as make
// sense. one reports whether an operation tells itself what came of it.
func (p *Pool[R]) oneByOne(ctx context.Context, s *stay, ops []lane.Op, one func(i int) (bool, error)) error {
	workers := 1
	if !s.nested(ctx) { // else they would take slots from one another, and not wait for them
		workers = max(p.lane.Stats().Workers, 1)
	}
	var mu sync.Mutex
	var refusal error
	first := len(ops)
	each(len(ops), workers, func(i int) {
		told, err := one(i)
		if !told || ops[i].WasCalledOff() {
			ops[i].Err = err
		}
		if told {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if i < first {
			first, refusal = i, err
		}
	})
	return refusal
}

// each calls do with the numbers from 0 to n-1, on so many goroutines at most, the
// caller's included. If one of them panics (which a context of somebody's making may do)
// the caller does, when all have ended.
func each(n, workers int, do func(int)) {
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			do(int(i))
		}
	}
	var others sync.WaitGroup
	var panicked atomic.Pointer[any]
	for range min(n, workers) - 1 {
		others.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					panicked.CompareAndSwap(nil, &r)
				}
			}()
			work()
		})
	}
	defer func() {
		others.Wait()
		if r := panicked.Load(); r != nil {
			panic(*r)
		}
	}()
	work()
}
