package uring

import (
	"syscall"
	"time"
)

// Ring is an io_uring and the table of its operations. It has one owner at a time; see
// the package comment.
type Ring struct {
	kernel kernel
	info   Info
	state  state
	cause  error // why it is retired

	fd         int    // -1: none
	enterFD    int    // fd, or its number among the registered ones of this thread
	enterFlags uint32 // enterRegistered, if so
	ringMem    []byte // both queues
	sqeMem     []byte

	sq       submission
	cq       completions
	room     int   // places in the submission queue that Take may grant; 0 unless open
	weight   int64 // bytes that may be copied while what is filled is submitted: see call
	deferred bool  // completions are made in enter only

	slots   []slot   // and those of the ring's own at the end
	free    []uint32 // stack of free ones
	busy    int      // slots between description and completion, own ones included
	owed    int      // completions that the kernel will yet make, or has made and we have not settled
	cancels int      // cancellations in flight
	dropped []uint32 // busy slots that the kernel has not taken and never will

	arg     extArg // for enter; here because the kernel gets its address
	timeout timespec

	wakeup  wakeup
	sweep   sweep
	buffers [][]byte // registered, see RegisterBuffers
	stats   Stats
	scrap   sqe // where operations are described that are dropped at once
}

// state of a ring. open -> retired, open or retired -> closing -> closed; see close.go.
type state uint8

const (
	stateOpen state = iota
	stateRetired
	stateClosing
	stateClosed
)

// Stats counts what a ring has done since New.
type Stats struct {
	Enters    uint64 // system calls of Enter, Reap and Close
	Submitted uint64 // operations and cancellations that the kernel has taken
	Completed uint64 // operations that have completed
	Dropped   uint64 // operations given back because the kernel never took them
	Wakeups   uint64 // ends of a wait because of Wake
	Stray     uint64 // completions that belonged to nobody
	Overflows uint64 // times that the kernel had completions for which there was no place
	Again     uint64 // submissions that the kernel put off
}

// Info returns what the ring is. It does not change.
func (r *Ring) Info() *Info { return &r.info }

// Stats returns what the ring has done so far.
func (r *Ring) Stats() Stats { return r.stats }

// Filled is how many operations and cancellations have been described and not been taken
// by the kernel yet.
func (r *Ring) Filled() int { return int(r.sq.filled - r.sq.consumed) }

// Busy is how many operations have been described and not been reaped.
func (r *Ring) Busy() int {
	n := r.busy
	for i := r.info.Slots; i < len(r.slots); i++ {
		if r.slots[i].state == busySlot {
			n--
		}
	}
	return n
}

// Err tells why the ring takes no operations: *RetiredError, ErrClosed, or nil if it does.
func (r *Ring) Err() error {
	switch r.state {
	case stateOpen:
		return nil
	case stateRetired:
		return &RetiredError{Cause: r.cause}
	case stateClosing, stateClosed:
	}
	return ErrClosed
}

// Now is the present time, for TimeoutAt.
func (r *Ring) Now() time.Duration { return r.kernel.now() }

// retire takes the ring out of use: the kernel has answered step with e.
func (r *Ring) retire(step string, e syscall.Errno) {
	if r.cause == nil {
		r.cause = &Error{Step: step, Err: e}
	}
	if r.state == stateOpen {
		r.state = stateRetired
	}
	r.drop()
}
