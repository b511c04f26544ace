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
	defer r.mu.Unlock()
	if e = r.find(id); e != nil {
		orphan = r.retire(e)
	}
	return e, orphan
}

// retire bars an entry and takes it out of the table. mu is held.
func (r *Registry[R]) retire(e *Entry[R]) (orphan bool) {
	orphan = e.gate.Close()
	e.gate.Shut() // stops the timer of its line, which would keep the gate alive
	r.unlink(e)
	return orphan
}

// Detach makes a retired entry of a resource that never was in the table under
// this ID, or is not any more: for one that was replaced. Like an orphan it belongs
// to the caller, who disposes of it.
func (r *Registry[R]) Detach(id handle.ID, resource R) *Entry[R] {
	e := &Entry[R]{ID: id, Resource: resource}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.await(e)
	return e
}

// Close retires everything and takes nothing more. It returns the entries that
// were idle: they belong to the caller. Later calls return none; one at the same
// time may get a part of them.
func (r *Registry[R]) Close() (orphans []*Entry[R]) {
	r.mu.Lock()
	r.closed.Store(true) // before the gates: see refusal
	table := *r.table.Load()
	r.mu.Unlock()
	for i := range table {
		if e := table[i].Load(); e != nil {
			if _, orphan := r.Retire(e.ID); orphan {
				orphans = append(orphans, e)
			}
		}
	}
	return orphans
}

// Disposed notes that a retired resource is gone, and how that went.
func (r *Registry[R]) Disposed(e *Entry[R], err error) {
	e.err = err
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.retiring, e)
	e.gone.Fire() // who sees it sees it in Stats and Retiring, too
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
