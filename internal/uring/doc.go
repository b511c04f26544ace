// Package uring is one io_uring of the Linux kernel, in Go alone: neither cgo nor a
// binding. It is the bottom layer of the ring lane: a table of operations, two queues
// shared with the kernel, and nothing that runs by itself. Elsewhere than on Linux, and
// on architectures whose layout nobody has checked, New returns an error that matches
// errors.ErrUnsupported.
//
// # Who drives a ring
//
// A [Ring] has one owner at a time: the goroutine that calls its methods. Ownership may
// pass to another goroutine if something orders the two (a mutex, a channel, an atomic
// that the one writes and the other reads). Only [Ring.Wake] may be called by anybody.
//
//	slot, ok := r.Take()                 // a slot of the table, and room in the queue
//	r.Read(slot, fd, buf, off)           // describes the operation to the kernel
//	err := r.Enter(uring.All, 1, -1)     // hands over, and waits for one to complete
//	r.Reap(func(c uring.Completion) {})  // takes the completions, frees the slots
//
// A request of io_uring belongs to the thread that submitted it, and the kernel cancels
// it when that thread ends. So the owner must not be a goroutine that ends while it is
// locked to its thread. A goroutine that is not locked may still, without knowing it,
// have submitted from a thread that somebody else locks and ends later; what was in
// flight then completes with ECANCELED or EFAULT, though nobody cancelled it. A driver
// that is locked to its thread (Config.Thread) cannot meet this.
//
// # Who owns a slot
//
//	free ──Take──> taken ──Read, Write, ...──> busy ──its own completion──> free
//	         └────────Drop───────> free          │
//	                                            Cancel: stays busy until both the operation
//	                                            and the cancellation have completed
//
// From the method that describes an operation to its completion the slot belongs to the
// kernel, whatever the caller does: whether it has lost interest, cancels, closes the
// ring or drops it. The slot holds pointers, not numbers, to all memory that the kernel
// may touch: the buffer, the list of pieces. Since they are stored in the
// heap, none of that can be on the stack of a goroutine, which moves; and what is in the
// heap does not move and is not collected as long as the slot points to it. A ring is
// reachable from a variable of this package from New until Close has succeeded, so this
// holds for a ring that was forgotten, too. A range of memory that Go's collector does
// not know (a mapping) must stay mapped until the completion; that is its owner's part.
//
// A completion names its slot by index and generation. The generation changes when the
// slot becomes free; so a completion that is late, twice or somebody else's is not
// credited to whoever has the slot by then: it is counted in [Stats] and dropped.
//
// # Why neither queue overflows
//
// Take grants a slot only together with a place in the submission queue. So a method
// that describes an operation never lacks one; where the queue is full, Take says no,
// and Enter makes room. Every operation completes once, and so does every cancellation,
// of which there are at most [Info.Cancels] at a time. Slots, cancellations and the two
// operations of the ring's own (the wake-up, and the one that cancels all) together are
// at most the size of the completion queue. Should the kernel report an overflow all the
// same, the next Enter or Reap makes it flush what it kept; see [Stats.Overflows].
//
// # Order of memory
//
// Each queue has two indices in memory shared with the kernel. Each of them is written
// by one side; the side that writes publishes by it what it did before.
//
//	submission tail   we store it after the entries below it: the kernel, which loads it,
//	                  sees them whole
//	submission head   the kernel stores it after it has copied the entries below it: we,
//	                  who load it, may write over them
//	completion tail   the kernel stores it after the entries below it, and after the data
//	                  of the reads that they report: we, who load it, see both
//	completion head   we store it after we have copied the entries below it: the kernel,
//	                  which loads it, may write over them
//
// So our stores must release and our loads acquire. The operations of sync/atomic do, and
// are sequentially consistent besides. Whatever else is in the shared memory is written by one side between two of these steps and needs no atomics.
//
// # When something fails
//
// What the kernel says to one operation is the result of that operation. What it says
// to the ring as a whole, but for EINTR, EAGAIN, EBUSY and ETIME, means that the ring
// can no longer be trusted: it is retired. Then Take refuses, Enter returns the error,
// operations that the kernel has not taken come back as [Completion.Dropped], and those
// that it has taken can still be waited for and reaped.
//
// Close cancels, waits until nothing is in flight, and only then unmaps and closes: the
// kernel writes into buffers also after a ring has been closed. If that takes longer than
// the caller allows, everything is left as it is, for ever or until another Close, and
// the error says so.
package uring
