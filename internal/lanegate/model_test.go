package lanegate

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// model says of a sequence of operations, each of which has its full effect before
// the next, who runs and who waits. It knows nothing of shards, flags and wake-ups.
type model struct {
	Config
	normal, reserved int // slots in use
	lines            [2]modelLine
	favoured         bool
	state            state
	inherited        bool
	barred           [2]bool
	want             Stats // but for Waits
}

type modelLine struct{ queue, room []*modelCaller }

type modelCaller struct {
	id int
	Request
	verdict  Verdict // 0 while it waits
	onNormal bool    // the kind of its slot
	released bool

	real *caller
}

func (l *modelLine) all() []*modelCaller { return slices.Concat(l.queue, l.room) }

func (m *model) acquire(c *modelCaller, now time.Time) {
	l := &m.lines[index(c.Urgent)]
	switch {
	case m.state == shut || m.state == draining && !c.Must:
		m.refuse(c, Closed)
	case m.normal < m.Slots-m.Reserved: // then nobody waits
		m.run(c, true)
	case c.Urgent && m.reserved < m.Reserved: // then nobody urgent waits
		m.run(c, false)
	case m.barred[index(c.Urgent)] && !c.Must:
		m.refuse(c, Hopeless)
	case c.NoWait:
		m.refuse(c, Busy)
	case c.Must || len(l.queue) < m.Queue:
		m.accept(l, c)
	case c.FailFast:
		m.refuse(c, Full)
	case len(l.room) >= m.Waiters:
		m.refuse(c, Overloaded)
	case !c.Expire.IsZero() && !c.Expire.After(now):
		m.refuse(c, Expired)
	default:
		l.room = append(l.room, c)
	}
}

func (m *model) run(c *modelCaller, onNormal bool) {
	c.verdict, c.onNormal = Granted, onNormal
	if onNormal {
		m.normal++
	} else {
		m.reserved++
	}
	m.want.Started++
}

func (m *model) refuse(c *modelCaller, v Verdict) {
	c.verdict = v
	m.want.Refused[v]++
}

func (m *model) accept(l *modelLine, c *modelCaller) {
	if m.LIFO {
		l.queue = slices.Insert(l.queue, 0, c)
	} else {
		l.queue = append(l.queue, c)
	}
}

// remove takes c out of its line.
func (m *model) remove(c *modelCaller) (accepted bool) {
	l := &m.lines[index(c.Urgent)]
	is := func(x *modelCaller) bool { return x == c }
	accepted = slices.ContainsFunc(l.queue, is)
	l.queue, l.room = slices.DeleteFunc(l.queue, is), slices.DeleteFunc(l.room, is)
	for len(l.room) > 0 && len(l.queue) < m.Queue {
		m.accept(l, l.room[0])
		l.room = l.room[1:]
		m.want.Promoted++
	}
	return accepted
}

// serve gives free slots to those who wait.
func (m *model) serve() {
	for m.normal < m.Slots-m.Reserved {
		n, u := m.lines[0].all(), m.lines[1].all()
		if len(n)+len(u) == 0 {
			break
		}
		c := slices.Concat(u, n)[0]
		if len(n) > 0 && m.favoured {
			c = n[0]
		}
		m.remove(c)
		m.favoured = c.Urgent && len(n) > 0
		m.run(c, true)
	}
	for m.reserved < m.Reserved && len(m.lines[1].all()) > 0 {
		c := m.lines[1].all()[0]
		m.remove(c)
		m.run(c, false)
	}
}

func (m *model) release(c *modelCaller) (last bool) {
	c.released = true
	m.want.Completed++
	if c.onNormal {
		m.normal--
	} else {
		m.reserved--
	}
	m.serve()
	return m.inherit()
}

func (m *model) cancel(c *modelCaller, v Verdict) {
	c.verdict = v
	if m.remove(c) {
		m.want.Dropped++
	} else {
		m.want.Refused[v]++
	}
}

// clear refuses the chosen ones in the rooms.
func (m *model) clear(v Verdict, chosen func(*modelCaller) bool) {
	for i := range m.lines {
		for _, c := range slices.Clone(m.lines[i].room) {
			if chosen(c) {
				m.cancel(c, v)
			}
		}
	}
}

func (m *model) close() (last bool) {
	if m.state != open {
		return false
	}
	m.state = draining
	m.clear(Closed, func(*modelCaller) bool { return true })
	return m.inherit()
}

// bar sends away those who wait, the room first, so that nobody is promoted.
func (m *model) bar(urgent bool) (last bool) {
	m.barred = [2]bool{true, urgent}
	m.clear(Hopeless, func(c *modelCaller) bool { return m.barred[index(c.Urgent)] })
	for i, l := range m.lines {
		for _, c := range slices.Clone(l.queue) {
			if m.barred[i] && !c.Must {
				m.cancel(c, Hopeless)
			}
		}
	}
	return m.inherit()
}

func (m *model) inherit() bool {
	inLine := len(m.lines[0].all()) + len(m.lines[1].all())
	if m.state == open || m.inherited || m.normal+m.reserved+inLine > 0 {
		return false
	}
	m.inherited = true
	return true
}

// stats is what the gate's Stats must be.
func (m *model) stats() Stats {
	s := m.want
	s.Slots, s.Running = m.Slots, m.normal+m.reserved
	for i := range m.lines {
		s.Queued += len(m.lines[i].queue)
		s.Waiting += len(m.lines[i].room)
	}
	return s
}

// duel drives a gate and its model side by side.
type duel struct {
	*testing.T
	*choices
	gate    *Gate
	model   model
	callers []*modelCaller
	log     []string
}

func (d *duel) say(format string, args ...any) { d.log = append(d.log, fmt.Sprintf(format, args...)) }

// those returns the callers that wait, or run.
func (d *duel) those(v Verdict) []*modelCaller {
	return slices.DeleteFunc(slices.Clone(d.callers), func(c *modelCaller) bool {
		return c.verdict != v || c.released
	})
}

func (d *duel) acquire() {
	c := &modelCaller{id: len(d.callers), Request: Request{
		Urgent:   d.chance(3),
		FailFast: d.chance(8),
		NoWait:   d.chance(8),
		Must:     d.chance(8),
		Owner:    uint64(len(d.callers) / 3),
	}}
	now := time.Now()
	if d.chance(3) {
		c.Expire = now.Add(time.Duration(d.pick(4)) * ms)
	}
	d.say("acquire %d %+v", c.id, c.Request)
	d.callers = append(d.callers, c)
	d.model.acquire(c, now)
	c.real = come(d.T, d.gate, c.Request)
}

func (d *duel) release(c *modelCaller) {
	d.say("release %d", c.id)
	want := d.model.release(c)
	if got := c.real.release(d.T); got != want {
		d.Errorf("the last one out: %v, want %v", got, want)
	}
}

func (d *duel) step() {
	switch op := d.pick(16); op {
	default:
		d.acquire()
	case 6, 7, 8, 9, 10:
		if cs := d.those(Granted); len(cs) > 0 {
			d.release(cs[d.pick(len(cs))])
		}
	case 11, 12:
		if cs := d.those(0); len(cs) > 0 {
			c := cs[d.pick(len(cs))]
			d.say("cancel %d", c.id)
			d.model.cancel(c, Ended)
			c.real.leave()
		}
	case 13:
		n := d.model.Reserved + 1 + d.pick(5)
		d.say("resize %d", n)
		d.model.Slots = n
		d.model.serve()
		d.gate.Resize(n)
	case 14:
		d.say("1 ms passes")
		time.Sleep(ms)
		now := time.Now()
		d.model.clear(Expired, func(c *modelCaller) bool { return !c.Expire.IsZero() && !c.Expire.After(now) })
	case 15:
		d.end()
	}
	synctest.Wait()
	d.compare()
}

// end refuses: one owner, or, rarely, everybody.
func (d *duel) end() {
	switch d.pick(18) {
	default:
		owner := uint64(d.pick(len(d.callers)/3 + 1))
		d.say("evict %d", owner)
		d.model.clear(Closed, func(c *modelCaller) bool { return c.Owner == owner })
		d.gate.Evict(owner)
	case 10:
		d.say("close")
		want := d.model.close()
		if got := d.gate.Close(); got != want {
			d.Errorf("closed, and inherits: %v, want %v", got, want)
		}
	case 11:
		d.say("shut")
		d.model.close()
		d.model.state = shut
		d.gate.Shut()
	case 12, 13, 14:
		urgent := d.chance(2)
		d.say("bar, urgent ones too: %v", urgent)
		want := d.model.bar(urgent)
		if got := d.gate.Bar(urgent); got != want {
			d.Errorf("barred, and inherits: %v, want %v", got, want)
		}
	case 15, 16, 17:
		d.say("unbar")
		d.model.barred = [2]bool{}
		d.gate.Unbar()
	}
}

func (d *duel) compare() {
	for _, c := range d.callers {
		if got := c.real.got(); got != c.verdict {
			d.Errorf("caller %d: verdict %d, want %d", c.id, got, c.verdict)
		}
	}
	got := d.gate.Stats()
	got.Waits, got.WaitSum, got.WaitMax = 0, 0, 0
	if want := d.model.stats(); got != want {
		d.Errorf("stats %+v\nwant  %+v", got, want)
	}
	atRest(d.T, d.gate)
	if d.Failed() {
		for _, line := range d.log {
			d.Log(line)
		}
		d.FailNow()
	}
}

func runDuel(t *testing.T, c *choices) {
	config := c.config()
	d := &duel{T: t, choices: c, gate: newGate(config), model: model{Config: config}}
	d.say("%+v", config)
	for len(c.left) > 0 {
		d.step()
	}
	for cs := d.those(Granted); len(cs) > 0; cs = d.those(Granted) {
		d.release(cs[0])
		d.compare()
	}
	empty(t, d.gate)
	if s := d.gate.Stats(); came(s) != uint64(len(d.callers)) {
		t.Errorf("%d callers came, %d are accounted for", len(d.callers), came(s))
	}
}

func TestTheGateDoesWhatTheModelSays(t *testing.T) {
	seeds(t, 300, 500, runDuel)
}

func FuzzGate(f *testing.F) {
	f.Add([]byte("one slot, one queue place, one caller after the other"))
	f.Add([]byte{3, 1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 6, 1, 13, 4, 13, 0, 15, 10})
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 2000)] // longer ones find nothing more, but slowly
		synctest.Test(t, func(t *testing.T) { runDuel(t, &choices{data}) })
		synctest.Test(t, func(t *testing.T) { runSteps(t, &choices{data}) })
	})
}
