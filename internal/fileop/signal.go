package fileop

import (
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/internal/interrupt"
)

// Signal is a share in the signal that interrupts system calls, taken by the first
// operation that asks for it. Where there is none operations are not interrupted. The zero
// Signal is ready to use.
type Signal struct {
	once  sync.Once
	taken atomic.Pointer[interrupt.Signal]
}

// Of is the signal for an operation, or nil.
func (s *Signal) Of(op *Op) *interrupt.Signal {
	if !op.Interruptible {
		return nil
	}
	s.once.Do(func() {
		if got, err := interrupt.Take(0); err == nil {
			s.taken.Store(got)
		}
	})
	return s.taken.Load()
}

// Release gives the share back, once, when no operation is done any more.
func (s *Signal) Release() {
	if got := s.taken.Swap(nil); got != nil {
		got.Release()
	}
}
