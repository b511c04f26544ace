package file

import (
	"context"
	"sync/atomic"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// doLent is Do of a transfer, on a lane where it may be left, with a buffer that somebody
// wants back. If it was left, and so still has the buffer, back is called when it ends;
// else the buffer is the caller's.
func (p *Pool) doLent(ctx context.Context, op *Op, back func(), opts []pool.Option) (left bool, err error) {
	if err := p.prepare(op); err != nil {
		return false, err
	}
	mine := *op           // a call that is left has its own
	var other atomic.Bool // of the call's end and the caller's leaving one has been
	got, err := pool.OffloadOn(ctx, p.files, op.File.ID, func(ctx context.Context, _ *fileop.File) (copied, error) {
		defer func() {
			if other.Swap(true) {
				back()
			}
		}()
		mine.Do(ctx, p.signal)
		return copied{mine.N, mine.Err}, mine.Failure(ctx)
	}, opts...)
	if wasLeft(err) {
		return !other.Swap(true), err
	}
	op.N, op.Err = got.n, got.err
	return false, p.result(op, err)
}

// failedGet is the error of Buffers.Get as that of a stream, for its first operation.
func (p *Pool) failedGet(ctx context.Context, op *Op, err error) error {
	if ctx.Err() != nil {
		return p.cancelled(ctx, op)
	}
	return &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Lane: p.lane, Err: err}
}
