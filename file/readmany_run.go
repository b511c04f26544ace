package file

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// readMany is one loop over ReadMany. All is done by the goroutine of the loop, but for the
// reads in flight, each on a goroutine that lives no longer: so none has to wait for
// others, as in a batch, and each is received when it ends.
//
// Reads are started in the order in which they are needed first. So the one that the loop
// waits for is in flight, or is the next to be started, and then needs no room in the
// window.
type readMany struct {
	pool   *Pool
	ctx    context.Context //nolint:containedctx // of one loop
	config ReadManyConfig
	opts   []pool.Option
	reqs   []ReadRequest

	next  int       // the first request that nothing is decided about
	plans []planned // of those before it, from the one whose turn it is on
	reads []*merged // to be started, in order

	pace     pace         // of reads that are not direct
	ended    chan *merged // with room for all in flight
	inFlight int
	held     int64    // bytes in the buffers of reads that were started and are still used
	free     [][]byte // buffers to be used again, the one used last at the end
	spare    int64    // bytes in those
	align    int      // of those
}

// newReadMany makes one of a complete config.
func (p *Pool) newReadMany(ctx context.Context, reqs []ReadRequest, c ReadManyConfig, opts []pool.Option) *readMany {
	m := &readMany{pool: p, ctx: ctx, config: c, opts: opts, reqs: reqs, ended: make(chan *merged, c.Depth)}
	m.pace.begin(c.slow)
	return m
}

// run yields one result after the other.
func (m *readMany) run(yield func(int, ReadResult) bool) {
	for i := range m.reqs {
		if len(m.plans) == 0 {
			m.plan()
		}
		turn := m.plans[0]
		m.plans = m.plans[1:]
		x := turn.read
		if x == nil {
			if !yield(i, ReadResult{Data: []byte{}, Err: turn.err}) {
				return
			}
			continue
		}
		m.await(x)
		if !yield(i, m.result(&m.reqs[i], x)) {
			return
		}
		if x.users--; x.users == 0 {
			m.forget(x)
		}
	}
}

// await waits until a read has ended.
func (m *readMany) await(x *merged) {
	for len(m.ended) > 0 {
		m.receive(<-m.ended)
	}
	for m.startMore(x); !x.ended; m.startMore(x) {
		m.receive(<-m.ended)
	}
}

// startMore starts as many reads as there may be. needed is the one that is waited for.
func (m *readMany) startMore(needed *merged) {
	for m.inFlight < m.config.Depth {
		if len(m.reads) == 0 && m.next < len(m.reqs) && m.held < int64(m.config.Window) {
			m.plan()
		}
		if len(m.reads) == 0 || m.reads[0] != needed && m.held+m.reads[0].size() > int64(m.config.Window) {
			return
		}
		x := m.reads[0]
		here := m.here(x)
		if here && x != needed {
			return // it is done in its turn
		}
		m.reads = m.reads[1:]
		m.start(x, here)
	}
}

// here reports whether a read is made by the goroutine of the loop, which is right for the
// only one, and for what comes from the page cache. That of a fiber must not wait for
// others.
func (m *readMany) here(x *merged) bool {
	only := m.inFlight == 0 && len(m.reads) == 1 && m.next == len(m.reqs)
	return only || m.config.Depth == 1 || !x.file.Direct() && m.pace.quick() || ringdriver.On(m.ctx) != nil
}

// start begins a read.
func (m *readMany) start(x *merged, here bool) {
	x.room = m.room(int(x.size()), x.file)
	x.op = ReadAt(x.file, x.room[:x.size()], x.from)
	x.alone = m.config.Depth == 1
	m.inFlight++
	do := func() {
		defer func() { m.ended <- x }() // whatever a context does
		began := time.Now()
		x.err = m.pool.guarded(&x.op, func() error { return m.pool.Do(m.ctx, &x.op, m.opts...) })
		x.took = time.Since(began)
	}
	if here {
		do()
	} else {
		go do()
	}
}

// receive takes note of the end of a read. One that was refused for want of room, while
// there might have been others, is started again, with fewer at a time.
func (m *readMany) receive(x *merged) {
	m.inFlight--
	if !x.file.Direct() {
		m.pace.note(x.took, len(x.op.Buf))
	}
	if !wantsRoom(x.err) || x.alone {
		x.ended = true
		return
	}
	m.config.Depth = max(min(m.config.Depth-1, m.inFlight), 1)
	m.forget(x)
	at, _ := slices.BinarySearchFunc(m.reads, x, byFirst)
	m.reads = slices.Insert(m.reads, at, x)
}

// drain waits for what is in flight.
func (m *readMany) drain() {
	for ; m.inFlight > 0; m.inFlight-- {
		<-m.ended
	}
}

// result is the part of a read that a request wants.
func (m *readMany) result(r *ReadRequest, x *merged) ReadResult {
	got, err := part(&x.op, r), x.err
	if e, ok := errors.AsType[*ioerr.Error](err); ok && len(got) < r.Length {
		switch {
		case e.Effect == ioerr.None:
			return ReadResult{Err: err}
		case e.Effect == ioerr.Unknown: // the buffer is not ours
			return ReadResult{Err: at(r.Offset, err)}
		case e.Origin == ioerr.Leaf && x.many: // it may be the place of another request that is faulty
			got, err = m.single(r)
		}
	}
	switch {
	case len(got) == r.Length:
		err = nil
	case err == nil:
		err = io.EOF
	default:
		err = at(r.Offset+int64(len(got)), err)
	}
	return ReadResult{Data: got, Err: err}
}

// single is the read of one request by itself, into a buffer of its own.
func (m *readMany) single(r *ReadRequest) ([]byte, error) {
	memory, _ := r.File.Alignment()
	from, to := r.File.whole(r.Offset, r.Offset+int64(r.Length))
	op := ReadAt(r.File, alignedTo(int(to-from), memory), from)
	err := m.pool.Do(m.ctx, &op, m.opts...)
	return part(&op, r), err
}

// part is what an operation has read of a request.
func part(op *Op, r *ReadRequest) []byte {
	from := min(r.Offset-op.Off, op.N)
	to := min(from+int64(r.Length), op.N)
	return op.Buf[from:to:to]
}

// room returns a buffer of at least so many bytes, but not many more: others would have to do
// without them. All buffers together are no more than Window, and this read on top
// if it is needed now.
func (m *readMany) room(size int, f *File) []byte {
	if memory, _ := f.Alignment(); memory > m.align {
		m.align, m.free, m.spare = memory, nil, 0
	}
	most := max(2*size, small)
	for i := len(m.free) - 1; i >= 0; i-- {
		if n := len(m.free[i]); n >= size && n <= most {
			return m.use(i)
		}
	}
	for len(m.free) > 0 && m.held+m.spare+int64(size) > int64(m.config.Window) {
		m.spare -= int64(len(m.free[0]))
		m.free = slices.Delete(m.free, 0, 1)
	}
	m.held += int64(size)
	return alignedTo(size, m.align)
}

// small is what a buffer may be longer than its read by, whatever that needs.
const small = 4096

// use takes a buffer out of those that are free.
func (m *readMany) use(i int) []byte {
	buf := m.free[i]
	m.free = slices.Delete(m.free, i, i+1)
	m.spare -= int64(len(buf))
	m.held += int64(len(buf))
	return buf
}

// forget is for a read that is not used any more.
func (m *readMany) forget(x *merged) {
	m.held -= int64(len(x.room))
	if x.room != nil && !wasLeft(x.err) {
		m.free = append(m.free, x.room)
		m.spare += int64(len(x.room))
	}
	x.room, x.op = nil, Op{}
}
