package pool

import (
	"context"
	"errors"
	"syscall"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Operate has a file operation done with the resource that id names, as one call, and
// returns when it has ended. The zero ID is for an operation that needs no resource. What
// came of it is in op.N, op.Err and op.More.Info.
//
// A lane.Operator does the operation itself. There a call counts as running, in Stats and
// for Config.Watch, from when the lane has it; Config.Health does not judge how long it
// took; and Config.Interrupt is not called, since the lane calls operations off. On any
// other lane the operation is a call like those of [Run] and [Transact] or, on a
// lane.Carrier, of [Offload] and [OffloadOn].
//
// The error is nil if op.Err is. A refusal is as for Run and Transact, and leaves op as it
// was. An operation that has failed is an *ioerr.Error with op.Err in it, Origin Leaf and
// Effect Done. One that was called off because ctx has ended has the outcome and cause of
// ctx, or ErrShutdown if that was because Shutdown gave up on it, with Origin Lane and
// Effect None; but Done if a part of a transfer was done before (op.N > 0).
//
// Op and buffers are the lane's until Operate returns. Where a call may be left
// (lane.Abandoning) it has a copy of op, so op itself is the caller's again in any case;
// but if the error is an *ioerr.LeftError (Effect Unknown), the buffers belong to the
// operation until it ends, if ever, and op tells nothing of it. A file that it opens after
// that is closed.
func (p *Pool[R]) Operate(ctx context.Context, id handle.ID, op *lane.Op, opts ...Option) error {
	c := p.own()
	switch {
	case c == nil || op == nil:
		return new(stay).check(ctx, c, "op")
	case c.native != nil:
		return p.operate(ctx, id, op, opts)
	case c.carrier != nil:
		_, err := p.carry(ctx, id, op, opts)
		return err
	}
	var err error
	if id.IsZero() {
		_, err = Run(ctx, p, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.do(ctx, op) }, opts...)
	} else {
		_, err = Transact(ctx, p, id, func(ctx context.Context, _ R) (struct{}, error) { return struct{}{}, c.do(ctx, op) }, opts...)
	}
	return err
}

// do does an operation as a part of a call with the context ctx, and returns what is the
// failure of that call.
func (c *core) do(ctx context.Context, op *lane.Op) error {
	op.Do(ctx, c.signal.Of(op))
	return failureOf(ctx, op)
}

// failureOf is the failure of an operation as that of a call with the context ctx. The kernel
// tells of data that could not be written once, and takes the pages for clean from then on: so
// a resource that could not be made durable is poisoned, lest another attempt succeed without
// the data. What cannot be made durable at all (a pipe) is none the worse for it.
func failureOf(ctx context.Context, op *lane.Op) error {
	switch {
	case op.Kind != fileop.Fsync && op.Kind != fileop.Fdatasync,
		op.WasCalledOff(), errors.Is(op.Err, syscall.EINVAL), errors.Is(op.Err, errors.ErrUnsupported):
		return op.Failure(ctx)
	}
	return Poison(op.Err)
}

// operate is Operate on a lane that does operations itself.
func (p *Pool[R]) operate(ctx context.Context, id handle.ID, op *lane.Op, opts []Option) error {
	c := &p.core
	var s stay
	if err := s.check(ctx, c, ""); err != nil {
		return err
	}
	at := &c.here
	if !id.IsZero() {
		lease, err := p.borrow(ctx, id, &s, opts)
		if err != nil {
			return err
		}
		defer p.giveBack(lease)
		at = p.siteOf(lease)
	}
	defer s.leave()
	lc := callOf(opts)
	inner := s.forOps(ctx, at)
	if err := s.hand(ctx, at, &lc, runs, func() error { return c.native.Operate(inner, lc, op) }); err != nil {
		return err
	}
	s.begun = !op.WasCalledOff() // else it says nothing about the resource
	if op.Err == nil {
		return nil
	}
	return at.failed(failureOf(inner, op), lc.Label)
}

// hand has the lane do what it does itself, an operation, several, or a fiber, by giving
// do the call. at is what the call holds beside. leave must follow in any case.
func (s *stay) hand(ctx context.Context, at *site, lc *lane.Call, listedAs phase, do func() error) error {
	c := s.core
	s.at, s.untimed = at, listedAs == runs
	if c.gate != nil && at == &c.here {
		if e := c.goInside(s); e != nil {
			return c.count(e)
		}
	}
	if s.until != nil {
		lc.Accept = *s.until
	}
	lc.Owner, lc.Handle, lc.NoWait = c.owner, at.id.Uint64(), s.nested(ctx)
	s.list(lc.Label, listedAs)
	if err := do(); err != nil {
		return c.refuse(ctx, err, ioerr.Lane, lc.Label, at.id)
	}
	return nil
}

// forOps is the context that the lane gets for operations, which ends with ctx and when a
// shutdown gives up on them. Inside a call of the pool ctx does both already; it may be
// the lane's own, of a fiber, and is told at once if nothing is put around it.
func (s *stay) forOps(ctx context.Context, at *site) context.Context {
	if m := s.outer(ctx); m != nil && m.site.core == s.core {
		return ctx
	}
	ctx, s.mark = at.begin(ctx, s.plain)
	return ctx
}

// told is what a carried operation has to say to a caller that has not left it.
type told struct {
	ran  bool // the rest tells what came of it
	n    int64
	err  error
	info fileop.Info
	off2 int64
}

// carry is Operate on a lane that runs calls itself. The copy of the operation is the
// call's, and what it says goes the way of a result: so caller and call share nothing but
// the buffers.
func (p *Pool[R]) carry(ctx context.Context, id handle.ID, op *lane.Op, opts []Option) (ran bool, err error) {
	c := &p.core
	mine := *op
	if op.More != nil {
		more := *op.More
		mine.More = &more
	}
	do := func(ctx context.Context) (told, error) {
		err := c.do(ctx, &mine)
		t := told{ran: true, n: mine.N, err: mine.Err}
		if mine.More != nil {
			t.info, t.off2 = mine.More.Info, mine.More.Off2
		}
		return t, err
	}
	if mine.Kind == fileop.Open {
		opts = append(opts[:len(opts):len(opts)], Undo(closeOpened))
	}
	var t told
	if id.IsZero() {
		t, err = Offload(ctx, p, do, opts...)
	} else {
		t, err = OffloadOn(ctx, p, id, func(ctx context.Context, _ R) (told, error) { return do(ctx) }, opts...)
	}
	if t.ran {
		if op.N, op.Err = t.n, t.err; op.More != nil {
			op.More.Info, op.More.Off2 = t.info, t.off2
		}
	}
	return t.ran, err
}

// closeOpened undoes an Open that nobody waits for.
func closeOpened(t told) error {
	if t.err != nil {
		return nil //nolint:nilerr // there is nothing to undo
	}
	op := lane.Op{Kind: fileop.Close, File: &fileop.File{FD: uintptr(t.n)}}
	op.Do(context.Background(), nil)
	return op.Err
}
