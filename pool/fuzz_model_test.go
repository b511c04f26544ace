package pool_test

import (
	"errors"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// look compares what is to be seen after a step with the model.
func (g *game) look() {
	running := 0
	held := make(map[*target]bool)
	for _, m := range g.moves {
		if m.ended {
			continue
		}
		select {
		case err := <-m.done:
			m.ended = true
			m.cancel()
			g.legal(m, err)
			if !m.id.IsZero() {
				g.handles = append(g.handles, &target{id: m.id})
			}
		default:
			if m.nested {
				g.t.Error("a nested call waits")
			}
			if m.started && !m.worked {
				running++
				held[m.on] = true
			}
		}
	}
	s := g.p.Stats()
	if g.ground.bounded && running > g.ground.slots {
		g.t.Errorf("%d calls run on %d slots", running, g.ground.slots)
	}
	if s.Lane.Running != running {
		g.t.Errorf("the lane counts %d running calls, %d run", s.Lane.Running, running)
	}
	for _, at := range g.handles {
		if g.p.Has(at.id) != (!at.destroyed && !g.down) {
			g.t.Errorf("Has is %v; destroyed %v, shut down %v", g.p.Has(at.id), at.destroyed, g.down)
		}
	}
	if g.ground.bounded && running < g.ground.slots && g.ground.name != "sharded isolated" && !(g.down && g.ground.shards > 1) {
		g.conserves(held) // shards that are being closed do not lend
	}
}

// conserves checks that with a slot free nobody waits for one: who has not started
// waits for a handle that somebody uses.
func (g *game) conserves(held map[*target]bool) {
	for _, m := range g.moves {
		if m.ended || m.started {
			continue
		}
		switch m.kind {
		case "do", "register":
			g.t.Errorf("%s waits although a slot is free", m.kind)
		case "with", "replace", "nested", "destroy":
			if !held[m.on] {
				g.t.Errorf("%s waits although slot and handle are free", m.kind)
			}
		}
	}
}

// legal checks that a call could end as it did.
func (g *game) legal(m *move, err error) {
	e := typed(g.t, err)
	ran := m.started
	why := ""
	switch {
	case e == nil:
		if !ran && m.kind != "destroy" && m.kind != "shutdown" {
			why = "it never ran"
		}
	case e.Effect == ioerr.Unknown:
		if m.kind != "destroy" && m.kind != "shutdown" || !m.dead && !m.late() {
			why = "nobody stopped waiting"
		}
	case e.Effect == ioerr.Done:
		// Opened, and disposed of at once.
		if !ran || e.Origin == ioerr.Leaf || e.Outcome == ioerr.Failed && !m.on.destroyed || e.Outcome == ioerr.ShutdownInProgress && !g.down {
			why = "it did not run, or nothing happened to its handle"
		}
	case ran:
		why = "it ran"
	default:
		why = g.illegal(m, e)
	}
	if why != "" {
		g.t.Errorf("%s ended with %v (%v by %v), but %s", m.kind, err, e.Outcome, e.Origin, why)
	}
}

// late reports whether the context's deadline has come.
func (m *move) late() bool { return !m.deadline.IsZero() && !time.Now().Before(m.deadline) }

// illegal says why a call could not be refused in this way.
func (g *game) illegal(m *move, e *ioerr.Error) string {
	switch e.Outcome {
	case ioerr.Cancelled:
		if !m.dead {
			return "nobody cancelled it"
		}
	case ioerr.TimedOut:
		if errors.Is(e, ioerr.ErrAcceptTimeout) {
			if m.accept.IsZero() || time.Now().Before(m.accept) {
				return "its time to be accepted has not come"
			}
		} else if !m.late() {
			return "its deadline has not come"
		}
	case ioerr.ShutdownInProgress:
		if !g.down {
			return "nothing shuts down"
		}
	case ioerr.Failed:
		switch {
		case m.kind == "destroy":
			if !m.on.id.IsZero() {
				return "to destroy what is gone is no error"
			}
		case g.down:
			return "the lifecycle comes first"
		case errors.Is(e, ioerr.ErrHandleNotFound):
			if m.on == nil || !m.on.destroyed {
				return "the handle is there"
			}
		case errors.Is(e, ioerr.ErrHandleBusy), errors.Is(e, ioerr.ErrQueueFull):
			if !m.failFast {
				return "it would have waited"
			}
		case errors.Is(e, ioerr.ErrWaitersFull):
			if m.on == nil {
				return "it has no handle"
			}
		case errors.Is(e, ioerr.ErrOverloaded):
			if !g.ground.gated || !g.ground.bounded {
				return "this lane has room for any number"
			}
		default:
			return "that cannot be"
		}
	}
	return ""
}

// finish lets everybody go and checks that everything was given back.
func (g *game) finish() {
	for _, m := range g.moves {
		if !m.released {
			m.released = true
			close(m.gate)
		}
	}
	synctest.Wait()
	g.look()
	g.down = true
	if err := g.p.Close(); err != nil {
		g.t.Errorf("Close: %v", err)
	}
	synctest.Wait()
	g.look()
	for _, m := range g.moves {
		if !m.ended {
			g.t.Errorf("%s never ended", m.kind)
		}
		m.cancel()
	}
	g.shop.allBack()
	if s := g.p.Stats(); s.State != pool.Closed || s.Handles != 0 || s.Retired != 0 || s.HooksHanging != 0 {
		g.t.Errorf("%+v", s)
	}
}
