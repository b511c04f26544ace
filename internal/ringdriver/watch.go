package ringdriver

import (
	"sync"
	"time"
)

// tick is how long a fiber may keep the ring from being driven, and twice that at most.
const tick = 2 * time.Millisecond

// watching is the watch over the fibers. Its goroutine lives as long as there are some.
type watching struct {
	mu     sync.Mutex
	fibers int
	awake  bool
}

// watch counts the fibers.
func (d *Driver) watch(change int) {
	w := &d.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fibers += change
	if w.fibers > 0 && !w.awake {
		w.awake = true
		d.helpers.Go(d.patrol)
	}
}

// done reports whether there is nothing to watch, which ends the watch.
func (w *watching) done() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.awake = w.fibers > 0
	return !w.awake
}

// patrol starts another driver when a fiber has blocked the present one for a whole tick.
func (d *Driver) patrol() {
	var state, turns uint64
	look := time.NewTimer(tick)
	defer look.Stop()
	for !d.watching.done() {
		look.Reset(tick) // no ticker: after a late look the next one would be early
		select {
		case <-look.C:
		case <-d.ended:
		}
		was, then := state, turns
		state, turns = d.state.Load(), d.turns.Load()
		if state&1 == 0 || state != was || turns != then {
			continue
		}
		if gen := state>>1 + 1; d.state.CompareAndSwap(state, gen<<1) {
			d.count.takeovers.Add(1)
			d.suspect()
			d.helpers.Go(func() { d.drive(gen) })
		}
	}
}

// suspect has the fibers that are ready run aside once, when one has blocked: where they all
// wait for the same thing, each would block a driver of its own, one after the other. The
// watch owns the ring here.
func (d *Driver) suspect() {
	for _, f := range d.ready[d.next:] {
		f.aside = max(f.aside, 1)
	}
}
