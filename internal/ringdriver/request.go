package ringdriver

import (
	"context"
	"unsafe"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/uring"
)

// Slots are the rights to have operations in flight. The driver calls the methods, so they
// must not block.
type Slots interface {
	Grow(n int) int // gets up to n more that are free and nobody waits for, and says how many
	Drop()          // gives one back
	Wanted() bool   // somebody waits for one
}

// request is one or more operations that one caller, or one fiber, waits for.
type request struct {
	begin, off message // off calls it off
	ops        []fileop.Op
	which      []int32 // of ops, if not all
	fiber      *Fiber  // nil: a goroutine, which waits on done
	bound      bool    // it is called off when the context of the fiber ends
	done       chan struct{}
	turn       uint64 // counts the uses, from 1

	// The owner's, from the beginning to the end. Before and after that the request is
	// its caller's, who may be using it anew: only at and early may be looked at then.
	at        uint64   // the turn that has begun and not ended; or 0
	early     uint64   // a turn that was called off before its beginning, or after its end
	depth     int      // operations in flight at most
	slots     Slots    // more of depth, and back with them; or nil
	cursor    int      // the next one to be described
	again     []int    // those to be described once more
	flying    int      // in flight
	left      int      // that have not ended
	tries     int      // how often one of them was lost
	last      int      // the place of the one described last
	rouses    bool     // it is the last of its chain
	calledOff bool     // by its caller
	listed    bool     // in pending
	behind    *request // in pending; then in the chain, where it is its caller's
}

func newRequest() *request {
	r := &request{done: make(chan struct{}, 1)}
	r.begin = message{kind: begin, req: r}
	r.off = message{kind: cancel, req: r}
	return r
}

// use makes a request new.
func (r *request) use(ops []fileop.Op, which []int32, depth int, slots Slots) {
	r.turn++
	r.off.turn = r.turn
	r.ops, r.which, r.depth, r.slots = ops, which, depth, slots
	r.cursor, r.tries, r.calledOff = 0, 0, false
	r.left = r.total()
}

// forget lets go of what belongs to the caller.
func (r *request) forget() { r.ops, r.which, r.slots = nil, nil, nil }

// total is how many operations there are.
func (r *request) total() int { return number(r.ops, r.which) }

// number is how many operations of ops are meant by which.
func number(ops []fileop.Op, which []int32) int {
	if which != nil {
		return len(which)
	}
	return len(ops)
}

// op returns the i-th operation.
func (r *request) op(i int) *fileop.Op {
	if r.which != nil {
		i = int(r.which[i])
	}
	return &r.ops[i]
}

// rest is how many operations are to be described.
func (r *request) rest() int { return r.total() - r.cursor + len(r.again) }

// open reports whether one of them may be described now.
func (r *request) open() bool { return r.rest() > 0 && r.flying < r.depth }

// grow gets more slots, if there is use for them.
func (r *request) grow() bool {
	if r.slots == nil || r.rest() == 0 {
		return false
	}
	n := r.slots.Grow(r.rest())
	r.depth += n
	return n > 0
}

// pick returns the next one. Those that were begun before come first.
func (r *request) pick() int {
	if n := len(r.again); n > 0 {
		i := r.again[n-1]
		r.again = r.again[:n-1]
		return i
	}
	i := r.cursor
	r.cursor++
	return i
}

// Do has the operation done and waits for its end. When ctx ends the operation is called
// off, and Do goes on to wait for its end.
func (d *Driver) Do(ctx context.Context, op *fileop.Op) {
	d.DoAll(ctx, unsafe.Slice(op, 1), nil, 1, nil)
}

// DoAll has the operations done, or those of the given indices, at most depth at a time,
// and waits until all have ended. Slots may be nil.
func (d *Driver) DoAll(ctx context.Context, ops []fileop.Op, which []int32, depth int, slots Slots) {
	if number(ops, which) == 0 {
		return
	}
	done := ctx.Done()               // it may panic: not while something is in flight
	r := d.requests.Get().(*request) //nolint:errcheck // nothing else is in there
	r.use(ops, which, depth, slots)
	d.send(&r.begin)
	select {
	case <-r.done:
		d.chain.pass(r)
		r.forget()
		d.requests.Put(r)
	case <-done:
		d.send(&r.off)
		d.await(r) // the driver may see off later, so r is not used again
	}
}

// await waits for the end of a request that has been sent.
func (d *Driver) await(r *request) {
	<-r.done
	d.chain.pass(r)
}

// line is a queue of requests.
type line struct{ first, last *request }

func (l *line) add(r *request) {
	if r.listed {
		return
	}
	r.listed = true
	if l.first == nil {
		l.first = r
	} else {
		l.last.behind = r
	}
	l.last = r
}

// take takes the first one.
func (l *line) take() *request {
	r := l.first
	if r != nil {
		l.first, r.behind, r.listed = r.behind, nil, false
	}
	return r
}

// putBack makes a request the first again.
func (l *line) putBack(r *request) {
	if l.first == nil {
		l.last = r
	}
	r.listed, r.behind = true, l.first
	l.first = r
}

// maxPieces is how many pieces of memory the kernel takes in one operation.
const maxPieces = 1024

// pieces are the next ones of a vectored transfer, as many as the kernel takes.
func pieces(op *fileop.Op) []uring.Iovec {
	v := op.Vectors()
	return uring.Pieces(nil, v[:min(len(v), maxPieces)]...)
}
