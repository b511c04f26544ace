package ringdriver

import (
	"errors"
	"math"
	"slices"
	"syscall"
	"time"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/uring"
)

// Numbers of Linux's errors that are told apart here.
const (
	errINTR      = 4
	errAGAIN     = 11
	errFAULT     = 14
	errINVAL     = 22
	errNOSYS     = 38
	errTIME      = 62
	errOPNOTSUPP = 95
	errCANCELED  = 125
)

// maxTries is how often an operation is done again that nobody has called off.
const maxTries = 100

// Serves reports whether the driver has the kind of operation at all, and the kernel knows
// it.
func (d *Driver) Serves(op *fileop.Op) bool {
	need, ok := opcode(op)
	return ok && d.has(need)
}

// has reports whether the kernel knows an operation, and it is to be used.
func (d *Driver) has(op uring.Op) bool {
	return d.ring.Info().Supports(op) && (d.without == nil || !slices.Contains(d.without, op))
}

// opcode is what the kernel has for an operation.
func opcode(op *fileop.Op) (uring.Op, bool) {
	vectored := op.More != nil && op.More.Bufs != nil
	switch op.Kind { //nolint:exhaustive // the others are not for the ring
	case fileop.Nop:
		return uring.OpNop, true
	case fileop.Sleep:
		return uring.OpTimeout, true
	case fileop.Read:
		if vectored {
			return uring.OpReadv, true
		}
		return uring.OpRead, true
	case fileop.Write:
		switch {
		case op.Append:
			return 0, false // not to be done twice
		case vectored:
			return uring.OpWritev, true
		}
		return uring.OpWrite, true
	default:
		return 0, false
	}
}

// begins takes a request in.
func (d *Driver) begins(r *request) {
	r.at = r.turn
	if f := r.fiber; r.early == r.at || f != nil && f.ended && r.bound {
		r.calledOff = true
	}
	d.pending.add(r)
}

// describeAll describes what is pending, as far as there are slots, and hands it over in
// chunks. A request that gets no further has its next turn after the others, if it has got
// anywhere; else it stays the first.
func (d *Driver) describeAll() {
	for r := d.pending.take(); r != nil; r = d.pending.take() {
		for began := false; r.open() || r.grow(); began = true {
			if r.calledOff || d.ring.Err() != nil {
				d.refuse(r)
				break // it may have ended
			}
			s, ok := d.take()
			switch {
			case ok:
				d.launch(r, s)
				continue
			case began:
				d.pending.add(r)
			default:
				d.pending.putBack(r)
			}
			return
		}
	}
}

// take is a slot for an operation, if one is free or the ring is out of use.
func (d *Driver) take() (s uring.Slot, ok bool) {
	if s, ok = d.ring.Take(); !ok && d.ring.Filled() > 0 { // else all slots are busy
		d.enter(uring.All, 0, 0)
		s, ok = d.ring.Take()
	}
	return s, ok
}

// launch describes the next operation of a request.
func (d *Driver) launch(r *request, s uring.Slot) {
	i := r.pick()
	r.last = s.Index()
	d.table[r.last] = flight{req: r, i: i, slot: s}
	r.flying++
	d.inFlight++
	op := r.op(i)
	d.describe(s, op)
	if op.File == nil {
		return // no device waits for it
	}
	if d.fresh++; d.fresh >= chunk {
		d.enter(uring.All, 0, 0)
	}
}

// refuse ends the operations of a request that are not described.
func (d *Driver) refuse(r *request) {
	for n := r.rest(); n > 0; n-- {
		op := r.op(r.pick())
		if op.Err = ErrUnserved; r.calledOff {
			op.Err = fileop.ErrCancelled
			d.count.dropped.Add(1)
		}
		d.ends(r)
	}
}

// describe describes an operation to the kernel, or what is left of it.
func (d *Driver) describe(s uring.Slot, op *fileop.Op) {
	r := d.ring
	switch code, _ := opcode(op); code { //nolint:exhaustive // as in opcode
	case uring.OpTimeout:
		if op.Len == 0 { // else it is done again, until the same moment
			op.Len = int64(endOf(r.Now(), op.Sleeping()))
		}
		r.TimeoutAt(s, time.Duration(op.Len))
	case uring.OpRead:
		if place, ok := d.place(s, op.Rest()); ok {
			r.ReadFixed(s, fdOf(op), op.Rest(), op.Offset(), place)
			return
		}
		r.Read(s, fdOf(op), op.Rest(), op.Offset())
	case uring.OpWrite:
		if place, ok := d.place(s, op.Rest()); ok {
			r.WriteFixed(s, fdOf(op), op.Rest(), op.Offset(), place)
			return
		}
		r.Write(s, fdOf(op), op.Rest(), op.Offset())
	case uring.OpReadv:
		r.Readv(s, fdOf(op), pieces(op), op.Offset())
	case uring.OpWritev:
		r.Writev(s, fdOf(op), pieces(op), op.Offset())
	default:
		r.Nop(s)
	}
}

// endOf is when a sleep ends. What is too long for a number ends when that does.
func endOf(now, sleeping time.Duration) time.Duration {
	if sleeping > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + max(sleeping, 0)
}

func fdOf(op *fileop.Op) uring.FD { return uring.FD(op.File.FD) }

// completed hears of the end of one operation.
func (d *Driver) completed(c uring.Completion) {
	f := &d.table[c.Slot.Index()]
	r, i := f.req, f.i
	if f.fixed {
		d.unplace()
	}
	*f = flight{}
	r.flying--
	d.inFlight--
	op := r.op(i)
	if d.tamper != nil {
		c.Res = d.tamper(op, c.Res)
	}
	if d.settle(op, r, c) {
		if !errors.Is(op.Err, ErrUnserved) {
			d.count.operations.Add(1)
		}
		if !d.ends(r) && r.rest() > 0 {
			d.pending.add(r)
		}
		return
	}
	r.again = append(r.again, i)
	d.pending.add(r)
}

// settle notes what the kernel says of an operation, and reports whether it has ended.
func (d *Driver) settle(op *fileop.Op, r *request, c uring.Completion) bool {
	switch {
	case c.Dropped:
		op.Err = ErrUnserved
		return true
	case c.Res >= 0:
		if op.Took(int(c.Res), nil) {
			return true
		}
		if op.NeedsBounce() { // it has ended between two blocks: at the end of the file, or not
			op.Err = ErrUnserved
			return true
		}
		return false
	}
	switch e := -c.Res; e {
	case errCANCELED, errINTR, errFAULT:
		switch {
		case e != errFAULT && r.calledOff:
			op.Err = fileop.ErrCancelled
			return true
		case r.tries < maxTries*r.total():
			r.tries++
			d.count.retries.Add(1)
			return false
		}
	case errTIME:
		if op.Kind == fileop.Sleep {
			return true
		}
	case errINVAL, errNOSYS, errOPNOTSUPP:
		op.Err = ErrRefused // whether it is the ring's fault another engine will see
		return true
	case errAGAIN:
		op.Err = ErrUnserved
		return true
	}
	return op.Took(0, syscall.Errno(-c.Res))
}

// ends notes the end of one operation of a request, and reports whether it was the last:
// then the request is not to be touched any more.
func (d *Driver) ends(r *request) (all bool) {
	r.left--
	if r.left == 0 {
		d.done(r)
		return true
	}
	// What a batch has beyond its first slot is lent to it as long as nobody else waits.
	if r.slots != nil && (r.left < r.depth || r.depth > 1 && r.flying < r.depth && r.slots.Wanted()) {
		r.depth--
		r.slots.Drop()
	}
	return false
}

// done tells a request's end to whom it belongs, who may use it again at once.
func (d *Driver) done(r *request) {
	r.at = 0
	if f := r.fiber; f != nil {
		d.ripen(f)
		return
	}
	d.chain.add(r)
}
