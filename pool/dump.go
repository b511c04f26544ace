package pool

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/lane"
)

// Dump writes for people who holds what and who waits for what: the lane, the calls, and
// each handle that somebody uses or waits for, or that is not Healthy. Calls without a
// label are listed if the pool is watched, else they are counted. It waits for nobody. The
// error is that of w.
func (p *Pool[R]) Dump(w io.Writer) error {
	if w == nil {
		return argument("w", nil, "must not be nil")
	}
	var b strings.Builder
	if p == nil || p.state.Load() == stateNone {
		b.WriteString("no pool\n")
	} else {
		p.dump(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Pool[R]) dump(b *strings.Builder) {
	s := p.Stats()
	l := s.Lane
	fmt.Fprintf(b, "pool %v, %s", s.State, count(s.Handles, "handle"))
	if s.Retired > 0 {
		fmt.Fprintf(b, ", %d out of use and not disposed of", s.Retired)
	}
	b.WriteString("\n")
	fmt.Fprintf(b, "lane %q: %d of %s taken, %d queued, %d waiting to be accepted", l.Name, l.Running, count(l.Workers, "slot"), l.Queued, l.Waiting)
	if n := len(l.Left); n > 0 {
		keep := 0
		for _, c := range l.Left {
			if c.KeepsSlot {
				keep++
			}
		}
		fmt.Fprintf(b, ", %d left running, %d of them in a slot", n, keep)
	}
	if t := l.Threads; t != (lane.ThreadStats{}) {
		fmt.Fprintf(b, ", %s, %d missing", count(t.Alive, "thread"), t.Vacant)
	}
	b.WriteString("\n")
	handles := p.reg.Snapshot()
	for _, c := range s.Running {
		what := "runs "
		if c.Left {
			what = "left "
		}
		tellCall(b, what, c)
	}
	for _, c := range s.Waiting {
		tellCall(b, "waits", c)
	}
	slices.SortFunc(handles, func(a, b registry.State) int { return cmp.Compare(a.ID.Uint64(), b.ID.Uint64()) })
	for _, h := range handles {
		p.tellHandle(b, h, s)
	}
}

func tellCall(b *strings.Builder, what string, c Call) {
	fmt.Fprintf(b, "%s %10v  %s", what, c.Age.Round(time.Microsecond), cmp.Or(c.Label, "(no label)"))
	if !c.Handle.IsZero() {
		fmt.Fprintf(b, "  %v", c.Handle)
	}
	switch {
	case c.ForHandle:
		b.WriteString(", for the handle")
	case c.Waits:
		b.WriteString(", for the lane")
	}
	b.WriteString("\n")
}

// tellHandle tells of one handle, if there is something to tell.
func (p *Pool[R]) tellHandle(b *strings.Builder, h registry.State, s Stats) {
	health := p.Health(h.ID)
	state := health.String()
	if h.Retired {
		state = "out of use"
	}
	if h.Holders == 0 && h.Waiting == 0 && health == Healthy && h.Barred == nil {
		return
	}
	fmt.Fprintf(b, "handle %v: %s", h.ID, state)
	switch {
	case h.Holders > 1:
		fmt.Fprintf(b, ", held by %d calls", h.Holders)
	case h.Holders > 0 && p.shared: // then nobody but calls holds it
		b.WriteString(", " + holder(h.ID, s.Running, Healthy))
	case h.Holders > 0:
		b.WriteString(", " + holder(h.ID, s.Running, health))
	}
	if h.Waiting > 0 {
		fmt.Fprintf(b, ", %d waiting", h.Waiting)
	}
	if h.Barred != nil {
		fmt.Fprintf(b, "; refuses: %v", h.Barred)
	}
	b.WriteString("\n")
}

// holder names who holds a handle.
func holder(id handle.ID, running []Call, health Health) string {
	for _, c := range running {
		if c.Handle == id {
			return "held by " + cmp.Or(c.Label, "a call without a label")
		}
	}
	switch health {
	case Probing:
		return "held by a probe"
	case Down, Poisoned:
		return "kept from calls"
	case Healthy, Suspect:
	}
	return "held by a call without a label"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
