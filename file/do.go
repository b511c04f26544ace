package file

import (
	"context"
	"errors"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// Do has an operation done, waits for its end, and returns its error; op.N says how many
// bytes were moved, op.More.Info what Stat has found out.
//
// The error is always an *ioerr.Error. One of the system has Origin Leaf, Effect Done, and
// an *fs.PathError (*os.LinkError, *AlignmentError) in it; op.Err is then what the system
// said. One that has not been done was refused (see pool.Pool.Transact), or called off
// because ctx has ended; if a part of a transfer had been done by then (op.N), the Effect
// is Done. The end of a file is no error here.
//
// The operation and its buffers are the pool's until Do returns, and the buffers beyond
// that if the error has the Effect Unknown, which only a lane.Abandoning returns.
func (p *Pool) Do(ctx context.Context, op *Op, opts ...pool.Option) error {
	if err := p.prepare(op); err != nil {
		return err
	}
	if !copies(op) {
		return p.result(op, p.files.Operate(ctx, idOf(op), op, opts...))
	}
	return p.copyRange(ctx, op, opts)
}

// DoAll has many operations done at the same time, as far as the lane has room, in no
// order, and returns when all have ended. The error of each is in its Err, in the form
// in which Do returns it; DoAll returns the first of them. A file that is closed, or of no use any
// more, fails the operations that need it, and no others. One that makes no sense (an
// *ioerr.ArgumentError) refuses all. A lane.Operator takes them as
// one call; on other lanes each is a call of its own.
//
// The files are held for as long as DoAll lasts: their Close waits for it.
func (p *Pool) DoAll(ctx context.Context, ops []Op, opts ...pool.Option) error {
	if err := p.open(); err != nil {
		return refuseAll(ops, err)
	}
	for i := range ops {
		if err := p.prepare(&ops[i]); err != nil {
			return refuseAll(ops, err)
		}
	}
	if len(ops) == 0 {
		return p.files.OperateAll(ctx, nil, nil, opts...)
	}
	p.doTogether(ctx, ops, opts)
	for i := range ops {
		if ops[i].Err != nil {
			return ops[i].Err
		}
	}
	return nil
}

// doTogether is DoAll of operations that are ready to be done.
func (p *Pool) doTogether(ctx context.Context, ops []Op, opts []pool.Option) {
	all, ids := p.together(ops)
	err := p.files.OperateAll(ctx, ids, all, opts...) // it may be that of a Nop, see together
	if p.doneWithout(ctx, ops, err, opts) {
		return
	}
	for i := range ops {
		op := &ops[i]
		if p.carries && copies(op) {
			op.Err = p.copyRange(ctx, op, opts)
			continue
		}
		op.N, op.Err = all[i].N, all[i].Err
		op.Err = p.outcome(op)
	}
}

// doneWithout is for operations none of which was done, since a file could not be had. It has those
// done that do not need it, and reports whether that was the case.
func (p *Pool) doneWithout(ctx context.Context, ops []Op, err error, opts []pool.Option) bool {
	e, ok := errors.AsType[*ioerr.Error](err)
	if p.carries || !ok || e.Origin != ioerr.Handle || e.Outcome != ioerr.Failed {
		return false // where callers may leave, each has its file for itself
	}
	var rest []Op
	var at []int
	for i := range ops {
		op := &ops[i]
		op.N, op.Err = 0, nil
		if lost := p.lost(op, e); lost != nil {
			op.Err = p.result(op, lost)
			continue
		}
		rest, at = append(rest, *op), append(at, i)
	}
	if len(rest) == len(ops) { // it does not say which
		return false
	}
	if len(rest) > 0 {
		p.doTogether(ctx, rest, opts)
	}
	for j, i := range at {
		ops[i] = rest[j]
	}
	return true
}

// lost is the error of an operation that needs a file which could not be had: the one that e is
// about, or one that is not there either.
func (p *Pool) lost(op *Op, e *ioerr.Error) error {
	files := [2]*fileop.File{op.File}
	if copies(op) {
		files[1] = op.More.File2
	}
	for _, f := range files {
		switch {
		case f == nil:
		case e.Handle == f.ID:
			return e
		case e.Err == ioerr.ErrHandleNotFound && !p.files.Has(f.ID): //nolint:errorlint // as in result
			told := *e
			told.Handle = f.ID
			return &told
		}
	}
	return nil
}

// refuseAll tells each of many operations why none is done.
func refuseAll(ops []Op, err error) error {
	for i := range ops {
		ops[i].N, ops[i].Err = 0, err
	}
	return err
}

// together is the operations as the pool does them at the same time, each with the file that
// it uses. The other file of one that copies is held by a Nop at the end; where that will
// not do (see copyRange) the operation has a Nop in its place, and is done by itself.
func (p *Pool) together(ops []Op) (all []Op, ids []handle.ID) {
	ids = make([]handle.ID, 0, len(ops)+1)
	all = ops
	for i := range ops {
		ids = append(ids, idOf(&ops[i]))
		if copies(&ops[i]) && len(all) == len(ops) {
			all = append(make([]Op, 0, len(ops)+1), ops...)
			all = append(all, Op{}) // not ops any more, whatever comes
		}
	}
	if len(all) == len(ops) {
		return all, ids
	}
	ids = append(ids, handle.ID{})
	for i := range ops {
		switch {
		case !copies(&ops[i]):
		case p.carries:
			all[i], ids[i] = Op{}, handle.ID{}
		default:
			all, ids = append(all, Op{}), append(ids, ops[i].More.File2.ID)
		}
	}
	return all, ids
}

// copies reports whether an operation uses two files.
func copies(op *Op) bool { return op.More != nil && op.More.File2 != nil }

// Fiber runs fn, which does operations one after the other, where that costs least; see
// pool.Pool.Fiber, also for what fn must not wait for nor lock. It must pass on the
// context that it is given.
func (p *Pool) Fiber(ctx context.Context, fn func(context.Context) error, opts ...pool.Option) error {
	return p.Pool().Fiber(ctx, fn, opts...)
}

// prepare refuses what makes no sense, and makes op ready to be done.
func (p *Pool) prepare(op *Op) error {
	if err := p.open(); err != nil {
		return err
	}
	if op == nil {
		return bad("op", nil, "must not be nil")
	}
	if op.Kind == fileop.Open || op.Kind == fileop.Close || op.Kind >= fileop.Kinds { // descriptors are the pool's business
		return bad("op.Kind", op.Kind, "must be that of an operation of this package")
	}
	if name := lacks(op); name == "name" {
		return bad(name, "", "must not be empty, nor the file nil")
	} else if name != "" {
		return bad(name, nil, "must not be nil")
	}
	if err := sense(op); err != nil {
		return err
	}
	op.N, op.Err = 0, nil
	// An fsync that is interrupted may have used up the one report of an error.
	op.Interruptible = p.signal != nil && op.Kind != fileop.Fsync && op.Kind != fileop.Fdatasync
	return nil
}

// lacks is the name of what an operation needs and does not have.
func lacks(op *Op) string {
	switch op.Kind {
	case fileop.Rename, fileop.Unlink, fileop.Rmdir, fileop.Mkdir:
		if op.More == nil {
			return "op.More"
		}
		return ""
	case fileop.Nop, fileop.Sleep, fileop.Open, fileop.Close, fileop.Kinds:
		return ""
	case fileop.CopyRange:
		if op.More == nil || op.More.File2 == nil {
			return "dst"
		}
	case fileop.Data, fileop.Times:
		if op.More == nil {
			return "op.More"
		}
	case fileop.Stat:
		if op.More == nil {
			return "op.More"
		}
		if op.File == nil && op.More.Path == "" {
			return "name"
		}
		return ""
	case fileop.Read, fileop.Write, fileop.Fsync, fileop.Fdatasync, fileop.Fallocate,
		fileop.Truncate, fileop.Advise, fileop.Flock, fileop.RangeLock, fileop.Chmod:
	}
	if op.File == nil {
		return "f"
	}
	return ""
}

// idOf names the file that an operation uses, if any.
func idOf(op *Op) handle.ID {
	if op.File == nil {
		return handle.ID{}
	}
	return op.File.ID
}
