package uring

import (
	"sync/atomic"
	"unsafe"
)

// submission is the queue that we write and the kernel reads.
type submission struct {
	entries  []sqe
	mask     uint32
	filled   uint32 // index after the last entry described
	consumed uint32 // the kernel's head, which changes in enter only

	sharedHead  *uint32
	sharedTail  *uint32
	sharedFlags *uint32
}

func (q *submission) init(ring, entries []byte, p *params) {
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&ring[offset])) }
	q.sharedHead, q.sharedTail, q.sharedFlags = at(p.sqOff.head), at(p.sqOff.tail), at(p.sqOff.flags)
	q.mask = p.sqEntries - 1
	q.entries = unsafe.Slice((*sqe)(unsafe.Pointer(&entries[0])), p.sqEntries)
	q.filled = atomic.LoadUint32(q.sharedTail)
	q.consumed = q.filled
	if p.flags&setupNoSQArray == 0 {
		// The kernel takes entries in the order of an array of their indices. Ours never
		// changes: the n-th entry is the n-th.
		array := unsafe.Slice(at(p.sqOff.array), p.sqEntries)
		for i := range array {
			array[i] = uint32(i)
		}
	}
}

// next is the place of the next description. The caller has reserved it: Take.
func (q *submission) next() *sqe {
	e := &q.entries[q.filled&q.mask]
	q.filled++
	return e
}

// publish makes what is filled visible to the kernel, which looks in enter.
func (q *submission) publish() { atomic.StoreUint32(q.sharedTail, q.filled) }

// advance looks how far the kernel has come, and returns by how much that is farther than
// before.
func (q *submission) advance() int {
	head := atomic.LoadUint32(q.sharedHead)
	n := head - q.consumed
	q.consumed = head
	return int(n)
}

// withdraw takes back what the kernel has not taken.
func (q *submission) withdraw() []sqe {
	var back []sqe
	for i := q.consumed; i != q.filled; i++ {
		back = append(back, q.entries[i&q.mask])
	}
	q.filled = q.consumed
	q.publish()
	return back
}

func (q *submission) flags() uint32 { return atomic.LoadUint32(q.sharedFlags) }

// advance counts what the kernel has taken, and returns how much that is.
func (r *Ring) advance() int {
	before := r.sq.consumed
	n := r.sq.advance()
	r.stats.Submitted += uint64(n)
	if r.wakeup.filled && int32(r.sq.consumed-r.wakeup.place) > 0 {
		r.wakeup.filled = false
		n-- // for the room below: this place is not granted to anybody
	}
	if r.state == stateOpen {
		r.room += n
	}
	if r.sq.consumed == r.sq.filled {
		r.weight = 0
	}
	return int(r.sq.consumed - before)
}

// drop gives back what the kernel has not taken: operations will be reaped as dropped,
// cancellations have never been.
func (r *Ring) drop() {
	r.room = 0
	r.advance()
	for _, e := range r.sq.withdraw() {
		index := Slot(e.userData).index()
		if index&ofCancel != 0 {
			index &^= ofCancel
			r.settleCancel(index, CancelFailed)
			if !r.slots[index].done {
				continue // it will complete, or stands before this entry
			}
		} else {
			r.owed--
		}
		r.dropped = append(r.dropped, index)
	}
}
