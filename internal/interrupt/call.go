package interrupt

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Call is the cancel word of one call, and the thread it is on while in a system
// call. One goroutine runs the call: Enter, Leave. Any number may ask it to end:
// Ask, Interrupt, and may do so after its end too, without effect.
//
// The zero Call, and one of a nil Signal, can be asked but gets no signal. A nil
// *Call is a call that nobody can ask: Enter and Leave do nothing.
//
// A Call must not be copied, and serves one call: an Interrupt that comes late
// would hit the next. Only when all who could ask are members of a [Set], and
// the call has been removed from it, may Reset make it anew.
type Call struct {
	sig   *Signal // set before the call starts; nil: asked, but not signalled
	asked atomic.Bool

	mu    sync.Mutex
	depth int           // sections entered and not yet left
	tid   int           // the thread, while depth > 0 and sig is not nil
	block bool          // the thread is to block the signal again when depth is 0
	sent  int           // signals sent since depth was last 0
	left  chan struct{} // made for whoever waits; closed when depth goes to 0

	set        *Set // guarded by the mutex of the set, as are the two below
	prev, next *Call
}

// NewCall returns a call that is interrupted by s, which must not be released
// before the call has ended. See [Call] for a nil s.
func NewCall(s *Signal) *Call { return &Call{sig: s} }

// Reset makes c a new call that is interrupted by s. It must not be in a section
// nor in a set, and nobody else may know it.
func (c *Call) Reset(s *Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.depth != 0 || c.set != nil {
		panic("interrupt: reset of a call in use")
	}
	c.sig = s
	c.asked.Store(false)
}

// Asked reports whether the call has been asked to end. A system call that has
// returned EINTR is tried again only if not.
func (c *Call) Asked() bool { return c != nil && c.asked.Load() }

// Enter begins a section: from here to Leave the goroutine is locked to its
// thread, and the thread gets signals once the call is asked to end. If it has
// been asked already Enter fails with [ErrInterrupted], and there must be no Leave.
//
// A section holds one system call and its retries. Sections nest, those of one
// call and those of several.
func (c *Call) Enter() error {
	if c == nil {
		return nil
	}
	if c.asked.Load() {
		return ErrInterrupted
	}
	if c.sig == nil {
		return c.remember(0, false)
	}
	runtime.LockOSThread()
	tid, blocked := c.sig.sys.thread()
	err := c.remember(tid, blocked)
	if err != nil {
		if blocked {
			c.sig.sys.block()
		}
		runtime.UnlockOSThread()
	}
	return err
}

// remember counts one more section, on this thread, unless the call has been asked.
func (c *Call) remember(tid int, blocked bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked.Load() {
		return ErrInterrupted
	}
	if c.depth == 0 {
		c.tid, c.block = tid, blocked
	} else if c.tid != tid {
		panic("interrupt: one call on two threads")
	}
	c.depth++
	return nil
}

// Leave ends the section that the last successful Enter began. When it returns,
// no signal of this section is on its way. To be deferred, so that a panic in the
// section does not leave the thread a target.
func (c *Call) Leave() {
	if c == nil {
		return
	}
	signalled, block := c.forget()
	if c.sig == nil {
		return
	}
	if signalled {
		c.sig.sys.drain()
	}
	if block {
		c.sig.sys.block()
	}
	runtime.UnlockOSThread()
}

// forget takes back one Enter. With the last one nobody will signal the thread any
// more; it reports whether somebody has, and whether the thread blocked the signal.
func (c *Call) forget() (signalled, block bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.depth == 0 {
		panic("interrupt: Leave without Enter")
	}
	c.depth--
	if c.depth > 0 {
		return false, false
	}
	signalled = c.sent > 0
	c.sent = 0
	if c.left != nil {
		close(c.left)
		c.left = nil
	}
	return signalled, c.block
}

// Ask asks the call to end and, if it is in a section, sends one signal. It never
// waits for the call. It reports whether the call has acknowledged: it is in no
// section and will not enter one. If not, the signal may have been lost: see
// Interrupt.
func (c *Call) Ask() bool {
	left, _ := c.ask()
	return left == nil
}

// ask is Ask for one who will wait: unless the call has acknowledged it returns a
// channel that is closed when it has. slow: signals do not seem to help.
func (c *Call) ask() (left <-chan struct{}, slow bool) {
	c.asked.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.depth == 0 {
		return nil, false
	}
	if c.left == nil {
		c.left = make(chan struct{})
	}
	return c.left, c.signalLocked()
}

// many is the number of signals in one section after which an unanswered one is
// looked for before another is sent. With the waits of resend they take 13 ms.
const many = 8

// signalLocked sends the thread of the section a signal, unless one that was sent
// before is still pending. It reports whether it makes no sense to hurry.
func (c *Call) signalLocked() (slow bool) {
	if c.sig == nil {
		return true
	}
	if c.sent >= many {
		pending, err := c.sig.sys.pending(c.tid)
		if pending {
			return true
		}
		slow = err != nil // not known: send, but seldom
	}
	if c.sig.sys.send(c.tid, c.sent == 0) {
		c.sent++
	}
	return slow
}

// Interrupt asks the call to end and sends signals until it has acknowledged, as
// Ask says, which is what nil means; or until ctx ends, whose cause it returns
// then, and the call stays asked. At least one signal is sent, even if ctx has
// ended before.
func (c *Call) Interrupt(ctx context.Context) error { return resend(ctx, c.ask) }

// Watch interrupts the call when ctx ends, in a goroutine that lives until the
// call has acknowledged. Until then it costs what [context.AfterFunc] does, and no
// goroutine; nothing if ctx cannot end. stop ends the watch: it reports false if
// ctx has ended already, in which case the goroutine may still run.
//
// For many calls under one context see [Set.Watch].
func (c *Call) Watch(ctx context.Context) (stop func() bool) {
	return watch(ctx, c.end)
}

// end is Interrupt without a bound, which fails for no other reason.
func (c *Call) end() { _ = c.Interrupt(context.Background()) }
