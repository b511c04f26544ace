package registry

// SkipGenerations makes gen the last generation given out for a slot that is, or
// was, in use.
func (r *Registry[R]) SkipGenerations(slot, gen uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gens[slot] = gen
}

// TableLen is the number of slots in the table.
func (r *Registry[R]) TableLen() int { return len(*r.table.Load()) }

// Pause holds the registry's mutex until the result is called.
func (r *Registry[R]) Pause() (resume func()) {
	r.mu.Lock()
	return r.mu.Unlock
}
