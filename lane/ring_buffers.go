package lane

import (
	"errors"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
)

// RegisterBuffers makes transfers from and to the memory of a slab cheaper: package file
// calls it, see file.Config.Buffers. Where it fails, above all because of RLIMIT_MEMLOCK,
// transfers go on without it. One slab can be registered at a time: another one is refused,
// and changes nothing for transfers that use the first. After the lane's end the error is
// ErrShutdown; without a ring it is the *ioerr.RingError of RingStats.Reason.
func (l *Ring) RegisterBuffers(s *fileop.Slab) error {
	if len(l.rings) == 0 {
		return *l.reason.Load()
	}
	for i, d := range l.rings {
		if err := d.Register(s); err != nil {
			for _, d := range l.rings[:i] {
				d.Unregister(s)
			}
			if errors.Is(err, ringdriver.ErrEnded) {
				return ioerr.ErrShutdown
			}
			return err
		}
	}
	l.count.registered.Store(s)
	return nil
}

// UnregisterBuffers undoes that, before the memory is given back. A slab that is not
// registered is none of its business.
func (l *Ring) UnregisterBuffers(s *fileop.Slab) {
	for _, d := range l.rings {
		d.Unregister(s)
	}
	l.count.registered.CompareAndSwap(s, nil)
}
