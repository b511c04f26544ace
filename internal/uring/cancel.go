package uring

// Cancel is what came of a cancellation.
type Cancel uint8

const (
	// NotCancelled means that nobody has tried.
	NotCancelled Cancel = iota
	// Cancelled means that the kernel has cancelled the operation, which tells so by
	// ECANCELED, or EINTR if it was interrupted.
	Cancelled
	// CancelTooLate means that there was nothing to cancel. The operation had completed, or
	// cannot be cancelled (disks).
	CancelTooLate
	// CancelRunning means that the operation was being executed. It may have been
	// interrupted, or run to its end; or it goes on to wait, and is to be cancelled again.
	CancelRunning
	// CancelFailed means that the kernel knows no cancellation, or the ring was retired
	// before it.
	CancelFailed
)

// String says what came of it.
func (c Cancel) String() string {
	switch c {
	case NotCancelled:
		return "not cancelled"
	case Cancelled:
		return "cancelled"
	case CancelTooLate:
		return "too late to cancel"
	case CancelRunning:
		return "running when cancelled"
	case CancelFailed:
		return "cancellation failed"
	}
	return "unknown"
}

func cancelOutcome(res int32) Cancel {
	const errNOENT, errALREADY = 2, 114
	switch {
	case res >= 0:
		return Cancelled
	case res == -errNOENT:
		return CancelTooLate
	case res == -errALREADY:
		return CancelRunning
	}
	return CancelFailed
}

// Attempt is what Cancel could do.
type Attempt uint8

const (
	// Described means that the cancellation goes to the kernel with the next Enter.
	Described Attempt = iota
	// Pointless means that the slot is not busy, or is being cancelled.
	Pointless
	// NotNow means that there is no place in the submission queue, or that there are as many
	// cancellations in flight as Info.Cancels allows. After Enter and Reap there will be. If the ring is
	// retired, there never is.
	NotNow
)

// Cancel describes a cancellation of the operation. It needs no slot of its own: what
// came of it is told with the completion of the operation, which comes when both have
// completed. What the operation did in the meantime is in the same completion, so a
// late success is not lost, and whoever gets it has the buffer back.
func (r *Ring) Cancel(s Slot) Attempt {
	index := s.index()
	if index >= uint32(r.info.Slots) {
		return Pointless
	}
	if o := &r.slots[index]; o.generation != s.generation() || o.state != busySlot || o.cancelling || o.done {
		return Pointless
	}
	if r.room == 0 {
		return NotNow
	}
	return r.cancel(index)
}

// cancel describes a cancellation, for which there is room in the submission queue.
func (r *Ring) cancel(index uint32) Attempt {
	if r.cancels >= r.info.Cancels {
		return NotNow
	}
	if r.room > 0 {
		r.room--
	}
	r.cancels++
	r.owed++
	r.slots[index].cancelling = true
	name := r.name(index)
	r.sq.next().set(OpAsyncCancel, -1, 0, uint64(name), 0, 0, name|ofCancel)
	return Described
}

// settleCancel notes what came of a cancellation.
func (r *Ring) settleCancel(index uint32, c Cancel) {
	o := &r.slots[index]
	o.cancelling, o.cancel = false, c
	r.cancels--
	r.owed--
}
