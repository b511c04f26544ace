package file

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/pool"
)

// This file is the operation that uses two files. Both must stay open until it ends. Where
// its caller waits for that, it holds a share of each. Where the caller may leave it
// (lane.Carrier) a call can outlive him with one share only, that of the source; the
// other file is kept open by a count.

// copyRange does a CopyRange.
func (p *Pool) copyRange(ctx context.Context, op *Op, opts []pool.Option) error {
	if p.carries {
		return p.copyCarried(ctx, op, opts)
	}
	both := []Op{*op, {}}                                                                 // the second stands for the other file
	_ = p.files.OperateAll(ctx, []handle.ID{op.File.ID, op.More.File2.ID}, both, opts...) // it may be that of the second
	op.N, op.Err = both[0].N, both[0].Err
	return p.outcome(op)
}

// copied is what a call that copies has to say to a caller who has not left it.
type copied struct {
	n   int64
	err error
}

func (p *Pool) copyCarried(ctx context.Context, op *Op, opts []pool.Option) error {
	to := op.More.File2
	undo := pool.Undo(func(f *fileop.File) error { return p.held.release(f) })
	_, err := pool.OffloadOn(ctx, p.files, to.ID, func(_ context.Context, f *fileop.File) (*fileop.File, error) {
		p.held.hold(f)
		return f, nil
	}, append(opts[:len(opts):len(opts)], undo)...)
	if err != nil {
		return p.result(op, err)
	}
	mine, more := *op, *op.More // a call that is left has its own
	mine.More = &more
	begun := new(atomic.Bool) // set by who lets go of the other file: the call, or the caller if there is none
	defer func() {            // also if ctx panics
		if begun.CompareAndSwap(false, true) {
			_ = p.held.release(to)
		}
	}()
	got, err := pool.OffloadOn(ctx, p.files, op.File.ID, func(ctx context.Context, _ *fileop.File) (copied, error) {
		if !begun.CompareAndSwap(false, true) {
			mine.Err = fileop.ErrCancelled
			return copied{err: mine.Err}, mine.Failure(ctx)
		}
		defer p.held.release(to) //nolint:errcheck // who closes the file has been told that it is closed
		mine.Do(ctx, p.signal)
		return copied{mine.N, mine.Err}, mine.Failure(ctx)
	}, opts...)
	op.N, op.Err = got.n, got.err
	return p.result(op, err)
}

// held counts who keeps a file open beyond its share. Its mutex is a leaf.
type held struct {
	mu    sync.Mutex
	files map[*fileop.File]*holders
	close func(*fileop.File) error
}

type holders struct {
	n      int
	closes bool // the last of them closes the file
}

// hold keeps a file open. The caller has a share of it.
func (h *held) hold(f *fileop.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files == nil {
		h.files = make(map[*fileop.File]*holders)
	}
	if h.files[f] == nil {
		h.files[f] = new(holders)
	}
	h.files[f].n++
}

// release undoes one hold, and closes the file if it is the last one and the file has been
// disposed of.
func (h *held) release(f *fileop.File) error {
	h.mu.Lock()
	of := h.files[f]
	of.n--
	if of.n == 0 {
		delete(h.files, f)
	}
	closes := of.n == 0 && of.closes
	h.mu.Unlock()
	if closes {
		return h.close(f)
	}
	return nil
}

// dispose closes a file, or leaves that to the last of those who hold it.
func (h *held) dispose(f *fileop.File) error {
	h.mu.Lock()
	of := h.files[f]
	if of != nil {
		of.closes = true
	}
	h.mu.Unlock()
	if of != nil {
		return nil
	}
	return h.close(f)
}
