package lane

import (
	"errors"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
)

// RegisterBuffers makes transfers from and to the memory of a slab cheaper: package file
// calls it, see file.Config.Buffers. Where it fails, above all because of RLIMIT_MEMLOCK,
// transfers go on without it. After the lane's end the error is ErrShutdown. One slab can be
// registered at a time.
func (l *Ring) RegisterBuffers(s *fileop.Slab) error {
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
	if len(l.rings) > 0 {
		l.count.registered.Store(int64(s.Len()))
	}
	return nil
}

// UnregisterBuffers undoes that, before the memory is given back.
func (l *Ring) UnregisterBuffers(s *fileop.Slab) {
	for _, d := range l.rings {
		d.Unregister(s)
	}
	l.count.registered.CompareAndSwap(int64(s.Len()), 0)
}
