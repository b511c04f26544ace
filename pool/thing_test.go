package pool_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// thing is a resource that notices how it is treated: used by two at once, used
// or disposed of after its disposal, disposed of while in use.
type thing struct {
	shop     *shop
	inUse    atomic.Int32
	disposed atomic.Int32
	uses     int // not atomic on purpose: the race detector is to see two users
}

// shop makes things and takes them back.
type shop struct {
	t     testing.TB
	mu    sync.Mutex
	made  []*thing
	fails func(*thing) error // what dispose does beside; may be nil
}

func newShop(t testing.TB) *shop { return &shop{t: t} }

func (s *shop) make() *thing {
	r := &thing{shop: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(s.made, r)
	return r
}

// open is for Register.
func (s *shop) open(context.Context) (*thing, error) { return s.make(), nil }

// dispose is for Config.Dispose.
func (s *shop) dispose(r *thing) error {
	if n := r.disposed.Add(1); n != 1 {
		s.t.Errorf("disposed of %d times", n)
	}
	if r.inUse.Load() != 0 {
		s.t.Error("disposed of while in use")
	}
	r.uses = -1
	if s.fails != nil {
		return s.fails(r)
	}
	return nil
}

// use is a transaction.
func (r *thing) use() {
	if n := r.inUse.Add(1); n != 1 {
		r.shop.t.Errorf("used by %d at once", n)
	}
	if r.disposed.Load() != 0 {
		r.shop.t.Error("used after disposal")
	}
	r.uses++
}

func (r *thing) done() {
	if r.disposed.Load() != 0 {
		r.shop.t.Error("disposed of while in use")
	}
	r.inUse.Add(-1)
}

// with is a transaction that does fn meanwhile.
func with(fn func(context.Context) error) func(context.Context, *thing) error {
	return func(ctx context.Context, r *thing) error {
		r.use()
		defer r.done()
		return fn(ctx)
	}
}

// count is how many things were made, and disposed of.
func (s *shop) count() (made, disposed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.made {
		if r.disposed.Load() != 0 {
			disposed++
		}
	}
	return len(s.made), disposed
}

// allBack checks that everything that was made has been disposed of.
func (s *shop) allBack() {
	s.t.Helper()
	if made, disposed := s.count(); made != disposed {
		s.t.Errorf("%d of %d things disposed of", disposed, made)
	}
}
