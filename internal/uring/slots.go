package uring

import "unsafe"

// Slot names one use of a place in the table: its index below, and the generation above,
// which is never zero. It is also what the kernel is given and returns with a completion.
type Slot uint64

// Index is the place in the table, less than [Info.Slots].
func (s Slot) Index() int { return int(uint32(s)) }

func (s Slot) generation() uint32 { return uint32(s >> 32) }

// ofCancel in the index of a completion says that it is that of a cancellation, and the
// rest names what is cancelled.
const ofCancel = 1 << 31

type slotState uint8

const (
	freeSlot slotState = iota
	takenSlot
	busySlot
)

// slot is a place in the table.
type slot struct {
	// Memory that the kernel may touch until the completion.
	memory unsafe.Pointer
	time   timespec

	generation uint32
	state      slotState
	cancelling bool   // a cancellation has been described and has not completed
	done       bool   // the operation has completed; result waits for the cancellation
	cancel     Cancel // what came of it
	result     int32
	flags      uint32
}

// Places of the ring's own, behind those that Take grants.
func (r *Ring) wakeSlot() uint32  { return uint32(len(r.slots) - own) }
func (r *Ring) sweepSlot() uint32 { return uint32(len(r.slots) - own + 1) }

func (r *Ring) makeSlots(n int) {
	r.slots = make([]slot, n+own)
	for i := range r.slots {
		r.slots[i].generation = 1
	}
	r.free = make([]uint32, n)
	for i := range r.free {
		r.free[i] = uint32(n - 1 - i)
	}
}

func (r *Ring) name(index uint32) Slot {
	return Slot(r.slots[index].generation)<<32 | Slot(index)
}

// Take grants a slot, and with it a place in the submission queue. False if all slots
// are busy (Reap frees some), the queue is full (Enter makes room), or the ring is
// retired or closed (Err tells).
func (r *Ring) Take() (Slot, bool) {
	n := len(r.free)
	if n == 0 || r.room == 0 {
		return 0, false
	}
	r.room--
	index := r.free[n-1]
	r.free = r.free[:n-1]
	r.slots[index].state = takenSlot
	return r.name(index), true
}

// Drop gives a slot back that was taken and has not been used.
func (r *Ring) Drop(s Slot) {
	r.taken(s)
	if r.state == stateOpen {
		r.room++
	}
	r.release(s.index())
}

func (s Slot) index() uint32 { return uint32(s) }

// taken returns the slot, which the caller has taken and not used. All else is a fault
// of the caller's, and writing to a slot of the kernel's would be worse than a panic.
func (r *Ring) taken(s Slot) *slot {
	if i := s.index(); i < uint32(len(r.slots)) {
		if o := &r.slots[i]; o.generation == s.generation() && o.state == takenSlot {
			return o
		}
	}
	panic("uring: slot is not taken")
}

// release makes a slot free. Its memory is no business of the kernel's any more.
func (r *Ring) release(index uint32) {
	o := &r.slots[index]
	o.memory = nil
	o.state, o.cancel = freeSlot, NotCancelled
	o.cancelling, o.done = false, false
	if o.generation++; o.generation == 0 {
		o.generation = 1
	}
	if int(index) < len(r.slots)-own {
		r.free = append(r.free, index)
	}
}

// describe gives the slot to the kernel, with the memory that the operation needs, and
// returns where to describe it.
func (r *Ring) describe(s Slot, memory unsafe.Pointer) (*slot, *sqe) {
	o := r.taken(s)
	o.memory = memory
	o.state = busySlot
	r.busy++
	if r.state != stateOpen {
		r.dropped = append(r.dropped, s.index())
		return o, &r.scrap
	}
	r.owed++
	return o, r.sq.next()
}
