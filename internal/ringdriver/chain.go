package ringdriver

// chain is the requests of goroutines that have ended and do not know it yet; see the
// package comment. It belongs to the owner of the ring.
type chain struct {
	first, last *request
	n           int
	back        chan struct{} // of capacity one
	manner      manner
}

func (c *chain) add(r *request) {
	r.behind, r.rouses = nil, false
	if c.first == nil {
		c.first = r
	} else {
		c.last.behind = r
	}
	c.last = r
	c.n++
}

// wake wakes them, and returns when they have had their turn.
func (d *Driver) wake() {
	c := &d.chain
	if c.first == nil {
		return
	}
	c.manner.begin(c.n)
	if c.manner.crowd() {
		for r := c.first; r != nil; {
			next := r.behind
			r.behind = nil
			r.done <- struct{}{}
			r = next
		}
		c.first, c.n = nil, 0
		d.yielder.yield()
	} else {
		r := c.first
		c.first, c.n, c.last.rouses = nil, 0, true
		r.done <- struct{}{}
		<-c.back
	}
	c.manner.end()
}

// pass is for the caller of a request who has been woken. The request is his alone again.
func (c *chain) pass(r *request) {
	next, rouses := r.behind, r.rouses
	r.behind = nil
	if next != nil {
		next.done <- struct{}{}
	}
	if rouses {
		c.back <- struct{}{}
	}
}
