package uring

import (
	"syscall"
	"time"
	"unsafe"
)

// All as the number of operations to submit means whatever has been described.
const All = 1 << 30

const (
	// patience is how often a submission that the kernel puts off is tried again while
	// nothing is in flight that could make room for it.
	patience = 10
	// stallTime is how long to wait before the first of them; each later one takes twice
	// as long.
	stallTime = 20 * time.Microsecond
)

// Submit hands over whatever has been described, and does not wait.
func (r *Ring) Submit() error { return r.Enter(All, 0, 0) }

// Enter hands over up to submit operations and waits until wait completions are there to
// be reaped, or the timeout has passed; a negative timeout never does. It never waits for
// more than can come. Signals do not end the wait; Wake does.
//
// Submitting a part is for devices that begin while the rest is prepared: call it with 8
// or 16 at a time, and wait in the last call.
//
// Enter returns nil also when the timeout has passed (Ready tells), and when the kernel has
// put a submission off: then Filled is not zero, and there is something to reap, unless
// the caller did not wait. Any error means that the ring is retired or closed.
//
// Wake counts as a completion; it ends a wait for one.
func (r *Ring) Enter(submit, wait int, timeout time.Duration) error {
	switch r.state {
	case stateOpen:
		if wait > 0 && timeout != 0 {
			r.armWake()
			if r.state != stateOpen {
				return r.Err()
			}
		}
	case stateRetired:
		if submit > 0 {
			return r.Err()
		}
	case stateClosing, stateClosed:
		return ErrClosed
	}
	return r.enter(submit, wait, timeout)
}

// enter is Enter in any state but closed.
func (r *Ring) enter(submit, wait int, timeout time.Duration) error {
	var end time.Duration
	if wait > 0 && timeout > 0 {
		end = r.kernel.now() + timeout
	}
	r.sq.publish()
	asked := wait > 0 // completions that the kernel has put off are wanted, too
	if timeout == 0 {
		wait = 0
	}
	stalls, held := 0, false
	for called := false; ; called = true {
		n, need := min(submit, r.Filled()), r.need(wait)
		if held {
			n, need = 0, r.need(1)
		}
		if called && n == 0 && need == 0 {
			return nil
		}
		flags, call := r.flags(n, need > 0, asked)
		if !call {
			return nil
		}
		got := r.call(n, need, flags, r.until(end, need > 0))
		submit -= got.taken
		e := got.e
		if e == 0 && n > 0 && got.taken == 0 {
			e = errAGAIN
		}
		switch {
		case e == 0 || e == errINTR:
			// Fewer were taken than there are, which ends the wait, or a signal has: again.
			if end > 0 && need > 0 && r.kernel.now() >= end {
				return nil
			}
		case e == errTIME:
			return nil
		case e == errAGAIN || e == errBUSY:
			// The kernel lacks memory, or places for completions. Both may come with
			// completions: so the caller is to reap, if he can; or something that is in flight
			// is waited for; or, if nothing is, only the kernel's memory is left to hope for.
			r.stats.Again++
			stalls++
			switch {
			case r.cq.ready() > 0 || wait == 0:
				return nil
			case r.owed > r.Filled() && !held:
				held = true
			case stalls > patience:
				r.retire("io_uring_enter", e)
				return r.Err()
			default:
				r.kernel.sleep(stallTime << stalls)
			}
		default:
			r.retire("io_uring_enter", e)
			return r.Err()
		}
	}
}

// need is how many completions there must be in the queue before enter may return, if wait
// are wanted but no more than can come; 0 if there are that many. The operation that
// Wake completes counts only if it is the only one.
//
// The kernel may add completions at any moment. So this must be a number that does not
// depend on how many there are now: "those that are missing, and those in the queue" would
// be one too many if one came between the two looks at the queue.
func (r *Ring) need(wait int) int {
	if len(r.dropped) > 0 {
		return 0 // something to reap, and not by the kernel
	}
	can := r.owed
	if r.wakeup.armed && can > 1 {
		can--
	}
	n := min(wait, can) - (r.cq.end - r.cq.next) // those copied are not in the queue any more
	if n <= int(r.cq.tail()-r.cq.read) {
		return 0
	}
	return n
}

// flags returns those of the call, and whether there has to be one.
func (r *Ring) flags(submit int, wait, asked bool) (flags uint32, call bool) {
	shared := uint32(0)
	if r.deferred || asked {
		shared = r.sq.flags()
	}
	if wait || r.deferred || shared&sqCQOverflow != 0 {
		flags |= enterGetEvents
	}
	call = submit > 0 || wait || shared&(sqCQOverflow|sqTaskrun) != 0 || r.deferred && asked
	return flags, call
}

// until returns how long enter is to wait, in memory that the kernel can read.
func (r *Ring) until(end time.Duration, wait bool) *extArg {
	if end == 0 || !wait {
		return nil
	}
	rest := max(end-r.kernel.now(), 0)
	r.timeout = timespec{sec: int64(rest / time.Second), nsec: int64(rest % time.Second)}
	r.arg = extArg{ts: uint64(uintptr(unsafe.Pointer(&r.timeout)))}
	return &r.arg
}

type entered struct {
	taken int // entries that the kernel has taken
	e     syscall.Errno
}

// call is the system call.
//
// It is made without telling the runtime (quick) if it cannot sleep: nothing to wait for,
// and nothing submitted that may do its work, or copy much, at once. Telling the
// runtime costs as much as a third of the call. Whatever may take long must tell it, since
// the garbage collector waits for this thread, and so would all others.
func (r *Ring) call(submit, wait int, flags uint32, arg *extArg) entered {
	if arg != nil {
		flags |= enterExtArg
	}
	r.stats.Enters++
	_, e := r.kernel.enter(r.enterFD, uint32(submit), uint32(wait), flags|r.enterFlags, arg, wait == 0 && r.weight <= lightBytes)
	// How many were taken is the head's to say: it is right also when the call was
	// interrupted after it had submitted.
	return entered{taken: r.advance(), e: e}
}

// flush makes the kernel complete what it has put off. It reports whether it could.
func (r *Ring) flush() bool {
	if r.sq.flags()&sqCQOverflow != 0 {
		r.stats.Overflows++
	}
	for range patience {
		switch e := r.call(0, 0, enterGetEvents, nil).e; {
		case e == 0:
			return true
		case e == errINTR || e == errAGAIN || e == errBUSY || e == errTIME:
			if r.cq.ready() > 0 {
				return true
			}
		default:
			r.retire("io_uring_enter", e)
			return false
		}
	}
	return false
}
