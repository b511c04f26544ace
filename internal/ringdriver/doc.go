// Package ringdriver drives one io_uring: it takes operations from any goroutine, from
// batches and from fibers, hands them to the kernel in bunches, and tells each end to
// whom it belongs. How many there may be at a time is its owner's concern.
//
// # The driver
//
// A goroutine owns the ring, and with it everything in [Driver] that is not atomic. It
// goes round: take what has come in, run the fibers that are ready, describe operations,
// enter the kernel (and sleep there if there is nothing else to do), reap. Operations
// come by the inbox, a stack that anybody pushes to with one compare-and-swap. Who pushes
// to it while the driver sleeps finds a mark there instead of other messages, and wakes
// the driver: by the eventfd of the ring if it sleeps in the kernel, by a channel if
// nothing is in flight. The driver puts the mark there by a compare-and-swap against
// nil, so it never sleeps while there is a message, and a message that comes later
// finds the mark.
//
// # Order
//
// Requests are served in the order in which they came: those of single operations are
// begun in it. One of many operations that has got some slots and wants more has its next
// turn after those that have come meanwhile. So nobody waits for all of a batch, however
// long, but for one operation of each request before him.
//
// # Waking
//
// Goroutines whose operations have ended are woken in a chain: the driver wakes the first,
// each wakes the next as the first thing it does, and the last wakes the driver. The
// runtime runs next whom a goroutine has just woken, before the queue of its processor. So
// the chain is not behind others who are ready and long at it; and it wakes no idle
// processor for each link. The driver does not sleep in the kernel before the
// chain has come back, since those who were woken have something new to do by then: to
// submit that together costs less than to go to sleep and be woken by the first.
//
// Goroutines that have much to do before they come back are woken all at once instead, so
// that other processors help, and the driver waits at the end of its processor's queue (see
// manner, which finds out what is better, and yielder).
//
// Nobody can hold a chain up but the scheduler. A goroutine that has pushed its request
// runs no code of anybody else's before it waits for the end: contexts have been asked for
// their channel before, and what ends meanwhile is called off by one more push.
//
// # Fibers
//
// A fiber is a function that runs as a coroutine ([iter.Pull]) on the driver's goroutine:
// to switch to it and back costs a tenth of what a wake-up of a goroutine does, and there
// is no other goroutine that the runtime could move elsewhere. While a fiber runs, it is
// the owner of the ring: its operations are described at once.
//
// A fiber can block: on a mutex, a channel, a page fault. Then nobody drives. So a watch
// looks every few milliseconds, and if the same fiber is still running it starts another
// driver, which takes the ring over. The fibers that were ready then are run apart from it
// once, since they may wait for the same thing. Who owns the ring is said by one word:
//
//	state = generation<<1      the driver of that generation owns it
//	state = generation<<1 | 1  the fiber that this driver has switched to may take it
//
//	driver:  store  gen<<1|1                    then switches to the fiber
//	fiber:   cas    gen<<1|1 -> gen<<1          and describes its operation, as owner
//	driver:  cas    gen<<1|1 -> gen<<1          when the fiber has switched back
//	watch:   cas    gen<<1|1 -> (gen+1)<<1      and starts driver gen+1
//
// Every change of owner is a compare-and-swap of this word, so there is never more than
// one, and each sees what the last one did. A fiber that has lost the ring sends its
// operation by the inbox, as anybody would. A driver that has lost it ends, when its fiber
// has switched back to it.
//
// The new driver must not switch to a fiber that the old one has not come back from. So a
// fiber has a word, too: running, parked, or early, for one whose operation has ended
// before it parked. Only what finds it parked makes it ready; where it is found early
// after switching back, whoever it switched back to makes it ready.
//
// # What may be done twice
//
// A request of io_uring ends with the thread that submitted it. The driver is not locked
// to its thread, since to wake a locked one costs ten times as much; so it may have been
// on a thread that somebody else locks later and ends. What was in flight then comes back
// as cancelled, or with a bogus fault. Those operations have not had an effect, and are given
// to the kernel once more. What could have had one all the same, such as a write at the
// end of a file, this package does not do at all.
package ringdriver
