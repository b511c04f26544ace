package registry

import (
	"context"

	"github.com/iolane/iolane/handle"
)

// Abort ends the opening of an entry that got no resource; nothing is left of it.
func (r *Registry[R]) Abort(l Lease[R]) {
	r.Retire(l.ID)
	l.Release()
	r.Disposed(l.Entry, nil)
}

// Retire takes the resource out of use: the ID names nothing from now on and
// waiters are refused. With orphan the resource was idle and now belongs to the
// caller; without, its holder's Release will say so. A nil entry means that there
// was nothing to retire.
func (r *Registry[R]) Retire(id handle.ID) (e *Entry[R], orphan bool) {
	r.mu.Lock()
	if e = r.find(id); e != nil {
		r.unlink(e)
	}
	r.mu.Unlock()
	if e == nil {
		return nil, false
	}
	return e, e.gate.Close()
}

// Close retires everything and takes nothing more. It returns the entries that
// were idle: they belong to the caller. Later calls return none.
func (r *Registry[R]) Close() (orphans []*Entry[R]) {
	r.mu.Lock()
	var all []*Entry[R]
	if !r.closed.Load() {
		r.closed.Store(true)
		table := *r.table.Load()
		for i := range table {
			if e := table[i].Load(); e != nil {
				all = append(all, e)
				r.unlink(e)
			}
		}
	}
	r.mu.Unlock()
	for _, e := range all {
		if e.gate.Close() {
			orphans = append(orphans, e)
		}
	}
	return orphans
}

// Disposed notes that a retired resource is gone, and how that went.
func (r *Registry[R]) Disposed(e *Entry[R], err error) {
	e.err = err
	e.gone.Fire()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.retiring, e)
	if r.live == 0 && len(r.retiring) == 0 {
		r.empty.WakeAll()
	}
}

// WaitEmpty waits until every resource has been disposed of, and reports false
// if ctx ended first.
func (r *Registry[R]) WaitEmpty(ctx context.Context) bool {
	r.mu.Lock()
	if r.live == 0 && len(r.retiring) == 0 {
		r.mu.Unlock()
		return true
	}
	return r.empty.Wait(ctx, &r.mu)
}
