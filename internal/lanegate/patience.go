package lanegate

import "time"

// patience decides between throughput and order, in the manner of sync.Mutex. A
// running newcomer may take a free slot past the line, which spares a convoy of
// short calls a park and a wake-up each; but once the head of the line has waited
// for limit, the gate is starving: newcomers queue up and slots are handed over
// in order, until the head is one that has not waited so long. A negative limit
// is strict order at all times.
//
// No clock is read on the fast path: one timer for each gate, armed only while
// somebody waits, finds the head that has waited too long.
// Guarded by the gate's mutex, but for limit and epoch, which never change.
type patience struct {
	limit time.Duration
	epoch time.Time
	timer *time.Timer
	armed bool
}

func newPatience(limit time.Duration) patience {
	return patience{limit: limit, epoch: time.Now()}
}

func (p *patience) strict() bool { return p.limit < 0 }

// now is the time on the gate's clock, in nanoseconds.
func (p *patience) now() int64 { return int64(time.Since(p.epoch)) }

// arm sees to it that the timer is set while somebody waits and nobody has waited for
// too long yet.
func (g *Gate) arm(now int64) {
	p := &g.patient
	if p.strict() || p.armed || g.flags.Load()&starving != 0 {
		return
	}
	t := g.oldest()
	if t == nil {
		return
	}
	p.armed = true
	d := time.Duration(t.since-now) + p.limit
	if p.timer == nil {
		p.timer = time.AfterFunc(d, g.ring)
	} else {
		p.timer.Reset(d)
	}
}

// ring is the timer's goroutine.
func (g *Gate) ring() {
	g.mu.Lock()
	g.patient.armed = false
	now := g.patient.now()
	if t := g.oldest(); t != nil && g.overdue(t, now) {
		g.flags.Store(g.flags.Load() | starving)
	} else {
		g.arm(now)
	}
	g.unlock()
}

// oldest is the head that came first.
func (g *Gate) oldest() *Ticket {
	u, n := g.lines[1].head(), g.lines[0].head()
	if n == nil || u != nil && u.since < n.since {
		return u
	}
	return n
}

func (g *Gate) overdue(t *Ticket, now int64) bool {
	return now-t.since >= int64(g.patient.limit)
}

// lost notes that a roused caller found its slot taken by a newcomer.
func (g *Gate) lost(t *Ticket, now int64) {
	if !g.patient.strict() && g.overdue(t, now) {
		g.flags.Store(g.flags.Load() | starving)
	}
}

// appease ends the starving state, when somebody has left the line, if the next
// one has not waited for long.
func (g *Gate) appease(now int64) {
	f := g.flags.Load()
	if t := g.oldest(); f&starving != 0 && t != nil && !g.overdue(t, now) {
		g.flags.Store(f &^ starving)
		g.arm(now)
	}
}
