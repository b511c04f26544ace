package lane

import (
	"github.com/iolane/iolane/internal/threadlimit"
	"github.com/iolane/iolane/ioerr"
)

// claim counts the threads that a lane may need against the limits of the process. It
// gives them back when it has been shut down, or was forgotten and collected.
func (c *Config) claim(threads int) (*threadlimit.Share, error) {
	if c.Threadless {
		return nil, nil
	}
	return threadlimit.Claim(c.Name, threads)
}

// resize changes the number of slots of each gate. Threads are claimed before there are
// more slots. They are given back when there are fewer, but for those of calls that
// run in slots beyond n: these are given back by the next resize or by the shutdown.
func (g *gated) resize(n int) error {
	if n <= g.reserved || n > maxWorkers {
		return &ioerr.ArgumentError{Name: "n", Value: n, Reason: "must be more than Reserved and at most 65535"}
	}
	if len(g.gates) == 0 {
		return notMade()
	}
	g.resizing.Lock()
	defer g.resizing.Unlock()
	if err := g.share.Resize(max(g.threads(), len(g.gates)*n+g.beside)); err != nil {
		return err
	}
	for _, gate := range g.gates {
		gate.Resize(n)
	}
	return g.share.Resize(g.threads()) // never more than before
}

// threads is what the lane may need at this moment.
func (g *gated) threads() int {
	n := g.beside
	for _, gate := range g.gates {
		n += gate.Most()
	}
	return n
}
