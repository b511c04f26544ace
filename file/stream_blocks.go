package file

import (
	"context"
	"time"
	"unsafe"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// blocks is what a Reader and a Writer have in common: transfers of blocks of a file, some
// in flight, which are received in the order in which they were started.
//
// Each transfer in flight is a goroutine, which lives no longer than that, so none is left
// when nothing is in flight; there are never more than Depth. Pool.DoAll would need none on
// a ring, but returns only when the slowest of a batch has ended, while nothing else is
// started; and a fiber must not wait for the user of the stream. For blocks of the usual
// size the goroutine is a few hundredths of what a device takes. It is as much as a copy
// from or to the page cache, though, and so these are made by the user's goroutine; see pace.
//
// All but what the goroutine of a block does is done by the user's.
type blocks struct {
	file   *File
	ctx    context.Context //nolint:containedctx // the interfaces that streams implement have no room for one
	opts   []pool.Option
	config StreamConfig

	pace  pace
	spare []*block // with a buffer, not in use
	made  int      // blocks that there are, in use or not
	line  []*block // started, in order
}

// block is one buffer and what is done with it.
type block struct {
	op    Op
	buf   []byte // as long as a block is
	err   error  // of the operation
	took  time.Duration
	busy  bool // its end has not been received
	ended chan struct{}
	run   func() // does the operation and tells of its end
}

// open takes the buffers that are lent, for transfers of a kind.
func (s *blocks) open(ctx context.Context, f *File, kind fileop.Kind, c StreamConfig, opts []pool.Option) error {
	if err := noContext(ctx); err != nil {
		return err
	}
	c, err := c.complete(f)
	if err != nil {
		return err
	}
	switch {
	case kind == fileop.Read && f.file.WriteOnly:
		return bad("f", f.Name(), "must have been opened for reading")
	case kind == fileop.Write && f.file.ReadOnly:
		return bad("f", f.Name(), "must have been opened for writing")
	}
	s.file, s.ctx, s.config, s.opts = f, ctx, c, opts
	s.pace.begin(c.slow)
	if c.Buffers == nil {
		return nil
	}
	// All at once, so that streams that wait for one another hold nothing: later on none
	// waits for a buffer.
	buf, err := c.Buffers.Get(ctx)
	if err != nil {
		return f.pool.failedGet(ctx, &Op{Kind: kind, File: f.file}, err)
	}
	s.add(buf)
	for s.made < c.Depth {
		buf, ok := c.Buffers.TryGet()
		if !ok {
			break
		}
		s.add(buf)
	}
	s.config.Depth = s.made
	return nil
}

// noBuffer is why a stream cannot go on whose last buffer of StreamConfig.Buffers is with a
// transfer that was left.
func (s *blocks) noBuffer() error {
	return &ioerr.Error{
		Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Lane: s.file.pool.lane, Err: ioerr.ErrLeft,
	}
}

// add makes a block of a buffer.
func (s *blocks) add(buf []byte) {
	b := &block{buf: buf[:s.config.BufferSize], ended: make(chan struct{}, 1)}
	b.run = func() {
		defer func() { b.ended <- struct{}{} }() // whatever a context does
		s.do(b)
	}
	s.made++
	s.spare = append(s.spare, b)
}

// take returns a block that is not in use, or nil.
func (s *blocks) take() *block {
	if len(s.spare) == 0 && s.config.Buffers == nil && s.made < s.config.Depth {
		memory, _ := s.file.Alignment()
		s.add(alignedTo(s.config.BufferSize, memory))
	}
	last := len(s.spare) - 1
	if last < 0 {
		return nil
	}
	b := s.spare[last]
	s.spare = s.spare[:last]
	return b
}

// drop is for a block that is not in use any more. One that has lost its buffer is gone.
func (s *blocks) drop(b *block) {
	if b.buf == nil {
		s.made--
		return
	}
	s.spare = append(s.spare, b)
}

// beside reports whether transfers are to be made by other goroutines than the user's. The
// goroutine of a fiber must not wait for them, which would hold its ring up.
func (s *blocks) beside() bool {
	return s.config.Depth > 1 && (s.file.Direct() || !s.pace.quick()) && ringdriver.On(s.ctx) == nil
}

// start begins the operation of a block.
func (s *blocks) start(b *block, beside bool) {
	s.line = append(s.line, b)
	b.busy = true
	if beside {
		go b.run()
	} else {
		b.run()
	}
}

// first waits for the end of the block that was started first, and takes it out of the line.
// One that was refused for want of room, maybe because of the others, is done again without
// them: so a lane with little room slows a stream, and does not break it.
func (s *blocks) first() *block {
	b := s.line[0]
	s.wait(b)
	if wantsRoom(b.err) {
		s.waitAll()
		s.do(b)
	}
	s.pace.note(b.took, len(b.op.Buf))
	s.line = append(s.line[:0], s.line[1:]...)
	return b
}

// ready reports whether first does not wait.
func (s *blocks) ready() bool { return len(s.line) > 0 && len(s.line[0].ended) > 0 }

func (s *blocks) wait(b *block) {
	if b.busy {
		<-b.ended
		b.busy = false
	}
}

func (s *blocks) waitAll() {
	for _, b := range s.line {
		s.wait(b)
	}
}

// reset waits until nothing is in flight, and forgets what has come of it.
func (s *blocks) reset() {
	s.waitAll()
	for _, b := range s.line {
		s.drop(b)
	}
	s.line = s.line[:0]
}

// close gives the buffers back when nothing is in flight any more.
func (s *blocks) close() {
	s.reset()
	for _, b := range s.spare {
		if s.config.Buffers != nil {
			s.config.Buffers.Put(b.buf)
		}
	}
	s.spare = nil
}

// do does the operation of a block. If that is left the block has no buffer any more.
func (s *blocks) do(b *block) {
	began := time.Now()
	defer func() { b.took = time.Since(began) }()
	left := false
	b.err = s.file.pool.guarded(&b.op, func() (err error) {
		left, err = s.transfer(b)
		return err
	})
	if left {
		b.buf = nil
	}
}

// transfer does it, and reports whether it was left.
func (s *blocks) transfer(b *block) (left bool, err error) {
	p, lent := s.file.pool, s.config.Buffers
	if lent == nil || !p.carries {
		err = p.Do(s.ctx, &b.op, s.opts...)
		return wasLeft(err), err
	}
	buf := b.buf
	return p.doLent(s.ctx, &b.op, func() { lent.Put(buf) }, s.opts)
}

// alignedTo returns a buffer of Go's heap, at an address that is a multiple of align.
func alignedTo(size, align int) []byte {
	room := make([]byte, size+align-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(room))) % uintptr(align))
	return room[skip:][:size:size]
}
