package lane

import "github.com/iolane/iolane/internal/lanegate"

// Threads runs at most Workers calls at a time, each on the goroutine of its
// caller, on whatever thread that is. It starts no goroutine of its own, but for
// Config.OnEvent.
//
// A nested call, made from inside a call of the same lane, takes another slot if
// one is free and is otherwise refused with ErrReentry (through a pool, which
// recognises it by its context): waiting could be for itself.
type Threads struct{ gated }

// NewThreads makes a Threads lane. Its error is an *ioerr.ArgumentError that
// names the field, or an *ioerr.ThreadLimitError.
func NewThreads(c Config) (*Threads, error) {
	c, err := c.complete(procs())
	if err != nil {
		return nil, err
	}
	t := new(Threads)
	if t.share, err = c.claim(c.Workers); err != nil {
		return nil, err
	}
	t.init(c, 0, 1, false)
	return t, nil
}

// Gate is the lane's gate, for package pool, which saves the way through the lane. It is
// nil if the lane was not made by NewThreads.
func (t *Threads) Gate() *lanegate.Gate { return t.gate() }

// Resize changes the number of slots, reserved ones included. Growing lets
// waiting calls in at once. Shrinking interrupts no call; none starts until fewer
// than n run. n must be more than Config.Reserved and at most 65,535; otherwise
// the error is an *ioerr.ArgumentError. It is an *ioerr.ThreadLimitError if the
// process may not have so many threads more. Either way nothing changes.
func (t *Threads) Resize(n int) error { return t.resize(n) }
