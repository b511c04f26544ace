package registry

import (
	"math"
	"sync/atomic"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

func (r *Registry[R]) insert(e *Entry[R]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.Load() {
		return ioerr.ErrShutdown
	}
	slot := r.vacancy()
	r.gens[slot]++
	e.ID = handle.Make(r.scope, slot, r.gens[slot])
	(*r.table.Load())[slot].Store(e)
	r.live++
	return nil
}

// vacancy returns a slot without an entry. mu is held.
func (r *Registry[R]) vacancy() uint32 {
	if n := len(r.free); n > 0 {
		slot := r.free[n-1]
		r.free = r.free[:n-1]
		return slot
	}
	slot := uint32(len(r.gens))
	r.gens = append(r.gens, 0)
	if old := *r.table.Load(); int(slot) >= len(old) {
		// Readers of the old table miss later changes of it, but who has the ID of
		// a later entry also sees the table that was stored before it.
		longer := make([]atomic.Pointer[Entry[R]], max(2*len(old), 8))
		for i := range old {
			longer[i].Store(old[i].Load())
		}
		r.table.Store(&longer)
	}
	return slot
}

// find returns the entry that id names, or nil. It may be retired by the time
// the caller looks at it; then its gate refuses.
func (r *Registry[R]) find(id handle.ID) *Entry[R] {
	table := *r.table.Load()
	if uint64(id.Slot()) >= uint64(len(table)) {
		return nil
	}
	if e := table[id.Slot()].Load(); e != nil && e.ID == id {
		return e
	}
	return nil
}

// unlink moves an entry from the table to the set of those to be disposed of. Its
// slot can be used again, but for a slot whose generations are used up: an ID is
// never given out twice. mu is held.
func (r *Registry[R]) unlink(e *Entry[R]) {
	slot := e.ID.Slot()
	(*r.table.Load())[slot].Store(nil)
	if r.gens[slot] < math.MaxUint32 {
		r.free = append(r.free, slot)
	}
	r.live--
	r.await(e)
}

// await puts an entry into the set of those to be disposed of. mu is held.
func (r *Registry[R]) await(e *Entry[R]) {
	if r.retiring == nil {
		r.retiring = make(map[*Entry[R]]struct{})
	}
	r.retiring[e] = struct{}{}
}

// Held returns the entry that id names to the holder of its lease, who may change
// the resource. The error, if it was retired meanwhile, is ErrHandleNotFound or
// ErrShutdown.
func (r *Registry[R]) Held(id handle.ID) (*Entry[R], error) {
	if e := r.find(id); e != nil {
		return e, nil
	}
	return nil, r.missing(id)
}
