package interrupt

import "sync"

// Default is the signal that [Take] takes for 0: one of the real-time signals, of
// which Go uses none, and C libraries only the first few.
const Default = 40

// system is what calls need of the operating system, here and in tests.
type system interface {
	// thread returns the number of the calling thread, which is locked, and makes it
	// let the signal in. It reports whether the thread did not: then block has to
	// follow, when the section is over.
	thread() (tid int, blocked bool)
	// block keeps the signal from the calling thread again.
	block()
	// send sends the signal to a thread of this process and reports whether it did.
	// first: no signal was sent for this section before, so a drain will follow.
	send(tid int, first bool) bool
	// pending reports whether a signal that was sent to the thread waits there.
	pending(tid int) (bool, error)
	// drain returns when all signals sent to the calling thread have arrived.
	drain()
	// release gives the share back.
	release()
}

// Signal is a share in a signal of the process. Use [Take].
type Signal struct {
	sys      system
	number   int
	released sync.Once
}

// Take makes the signal with this number, 35 to 64, or [Default] for 0, one that
// interrupts system calls. As long as there is a share the signal is of no use for
// anything else in this process. Shares in one signal are counted, different
// signals may be taken at once.
//
// Errors: [ErrSignal] if the number is out of range or code outside of Go has a
// handler for it; errors.ErrUnsupported where this package does not work at all.
func Take(number int) (*Signal, error) {
	if number == 0 {
		number = Default
	}
	sys, err := take(number)
	if err != nil {
		return nil, err
	}
	return &Signal{sys: sys, number: number}, nil
}

// Number returns the number of the signal.
func (s *Signal) Number() int { return s.number }

// Release gives the share back, once; later calls do nothing. Calls of this share
// get no signals from then on. With the last share the signal is what it was
// before, or what the program has made of it since.
func (s *Signal) Release() { s.released.Do(s.sys.release) }
