package uring

import (
	"sync/atomic"
	"unsafe"
)

// Completion is the end of an operation.
type Completion struct {
	Slot  Slot // free by now: only its index still means something
	Res   int32
	Flags uint32
	// Cancel is what came of Cancel, if that was called.
	Cancel Cancel
	// Dropped: the kernel never took the operation, since the ring was retired or closed
	// before. It has had no effect. Res is -ECANCELED.
	Dropped bool
}

// batchSize is how many completions are copied at a time: enough that the price of
// telling the kernel is nothing for each, and no more than fits the nearest cache.
const batchSize = 64

// completions is the queue that the kernel writes and we read.
type completions struct {
	entries    []cqe
	mask       uint32
	read       uint32 // index after the last entry copied: what the shared head is
	sharedHead *uint32
	sharedTail *uint32

	// Copied from the queue and not given to anybody yet. Here, not on the stack, so that
	// nothing is lost if the function that is called panics, or reaps itself.
	batch [batchSize]cqe
	next  int
	end   int
}

func (q *completions) init(ring []byte, p *params) {
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&ring[offset])) }
	q.sharedHead, q.sharedTail = at(p.cqOff.head), at(p.cqOff.tail)
	q.mask = p.cqEntries - 1
	q.entries = unsafe.Slice((*cqe)(unsafe.Pointer(&ring[p.cqOff.cqes])), p.cqEntries)
	q.read = atomic.LoadUint32(q.sharedHead)
}

func (q *completions) tail() uint32 { return atomic.LoadUint32(q.sharedTail) }

// ready is how many there are.
func (q *completions) ready() int { return q.end - q.next + int(q.tail()-q.read) }

// copyTo copies entries before tail, and lets the kernel have their places.
func (q *completions) copyTo(tail uint32) bool {
	n := min(int(int32(tail-q.read)), batchSize)
	if n <= 0 {
		return false
	}
	for i := range n {
		q.batch[i] = q.entries[(q.read+uint32(i))&q.mask]
	}
	q.read += uint32(n)
	q.next, q.end = 0, n
	atomic.StoreUint32(q.sharedHead, q.read)
	return true
}

// Ready tells whether Reap has something to do.
func (r *Ring) Ready() bool {
	if len(r.dropped) > 0 || r.state == stateClosed {
		return len(r.dropped) > 0
	}
	return r.cq.ready() > 0 || r.sq.flags()&(sqCQOverflow|sqTaskrun) != 0
}

// Reap calls done for each operation that had completed when Reap was called, and returns
// how many there were. It does not wait.
//
// The slot is free, and the kernel has its place in the completion queue back, before done
// is called. So done may take slots, describe, enter and reap. The index of a slot whose
// completion has not been given to done is never taken again before that.
func (r *Ring) Reap(done func(Completion)) int {
	n := 0
	if r.state != stateClosed {
		n = r.reapQueue(done)
	}
	for range len(r.dropped) { // done may add some, and take some by reaping
		last := len(r.dropped) - 1
		if last < 0 {
			break
		}
		index := r.dropped[last]
		r.dropped = r.dropped[:last]
		if o := &r.slots[index]; o.done { // what was dropped is its cancellation
			n += r.end(index, Completion{Res: o.result, Flags: o.flags}, done)
			continue
		}
		r.stats.Dropped++
		n += r.end(index, Completion{Res: -int32(errCANCELED), Dropped: true}, done)
	}
	return n
}

func (r *Ring) reapQueue(done func(Completion)) int {
	n := 0
	tail := r.cq.tail()
	if tail == r.cq.read && r.sq.flags()&(sqCQOverflow|sqTaskrun) != 0 && r.flush() {
		tail = r.cq.tail()
	}
	for {
		for r.cq.next < r.cq.end {
			c := r.cq.batch[r.cq.next]
			r.cq.next++
			n += r.settle(c, done)
		}
		// Whoever reaps inside done may have come farther than tail, or have closed the ring.
		if r.state == stateClosed || !r.cq.copyTo(tail) {
			break
		}
	}
	return n
}

// settle credits a completion to its operation, and returns how many operations that ends.
func (r *Ring) settle(c cqe, done func(Completion)) int {
	s := Slot(c.userData)
	index := s.index() &^ ofCancel
	if int(index) >= len(r.slots) {
		r.stats.Stray++
		return 0
	}
	o := &r.slots[index]
	if o.generation != s.generation() || o.state != busySlot || c.flags&cqeMore != 0 {
		r.stats.Stray++
		return 0
	}
	if s.index()&ofCancel != 0 {
		if !o.cancelling {
			r.stats.Stray++
			return 0
		}
		r.settleCancel(index, cancelOutcome(c.res))
		if o.done {
			return r.end(index, Completion{Res: o.result, Flags: o.flags}, done)
		}
		return 0
	}
	if o.done {
		r.stats.Stray++
		return 0
	}
	r.owed--
	if o.cancelling {
		// The cancellation names this slot and this generation: both stay until it has
		// completed, so that it can never hit another operation.
		o.done, o.result, o.flags = true, c.res, c.flags
		return 0
	}
	return r.end(index, Completion{Res: c.res, Flags: c.flags}, done)
}

// end frees the slot and tells its operation's end.
func (r *Ring) end(index uint32, c Completion, done func(Completion)) int {
	c.Slot, c.Cancel = r.name(index), r.slots[index].cancel
	r.busy--
	r.release(index)
	switch {
	case index == r.wakeSlot():
		r.woken(c)
		return 0
	case index == r.sweepSlot():
		r.swept(c)
		return 0
	}
	if !c.Dropped {
		r.stats.Completed++
	}
	if done != nil {
		done(c)
	}
	return 1
}
