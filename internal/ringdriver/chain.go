package ringdriver

// chain is the requests of goroutines that have ended and do not know it yet; see the
// package comment. It belongs to the owner of the ring.
type chain struct {
	first, last *request
	back        chan struct{} // of capacity one
}

func (c *chain) add(r *request) {
	if r.behind = nil; c.first == nil {
		c.first = r
	} else {
		c.last.behind = r
	}
	c.last = r
}

// run wakes them all, and returns when the last of them runs.
func (c *chain) run() {
	r := c.first
	if r == nil {
		return
	}
	c.first = nil
	r.done <- struct{}{}
	<-c.back
}

// pass is for the caller of a request who has been woken. The request is his alone again.
func (c *chain) pass(r *request) {
	next := r.behind
	if r.behind = nil; next != nil {
		next.done <- struct{}{}
		return
	}
	c.back <- struct{}{}
}
