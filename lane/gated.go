package lane

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/threadlimit"
	"github.com/iolane/iolane/ioerr"
)

// gated is what the lanes of this package have in common: one or more gates, and
// the limits by key in front of them.
type gated struct {
	name     string
	policy   Policy
	reserved int
	gates    []*lanegate.Gate
	next     atomic.Uint64 // round robin over the gates
	keys     keyTable
	keyring  *keyTable // where calls count their keys: keys, or that of a lane of which this is a part
	tickets  lanegate.Tickets
	dead     dead

	// resizing guards the number of slots and the share, which go together.
	resizing sync.Mutex
	share    *threadlimit.Share // of the threads of the process; nil if Threadless
	beside   int                // threads that the lane may need beside those of its slots
}

// dead counts callers whose context had ended on arrival: they came to no gate.
type dead struct {
	cancelled, shutdown atomic.Uint64
}

// init makes the gates from a complete Config. Their events have the numbers from first.
func (g *gated) init(c Config, first, shards int, isolated bool) {
	g.name, g.policy, g.reserved = c.Name, c.Policy, c.Reserved
	for i := range shards {
		g.gates = append(g.gates, c.gate(first+i, &g.tickets))
	}
	if shards > 1 && !isolated {
		lanegate.Join(g.gates)
	}
	g.keyring = &g.keys
	g.keys.perKey = c.PerKey
	g.keys.gate = lanegate.Config{Waiters: c.Waiters, Patience: c.Patience, Tickets: &g.tickets}
}

// Name returns Config.Name.
func (g *gated) Name() string { return g.name }

// Enter implements [Lane].
func (g *gated) Enter(ctx context.Context, c Call) (Slot, error) {
	if ctx == nil {
		return Slot{}, noContext()
	}
	if c.Policy > FailFast {
		return Slot{}, &ioerr.ArgumentError{Name: "lane.Call.Policy", Value: c.Policy, Reason: "is none of the policies"}
	}
	if len(g.gates) == 0 {
		return Slot{}, notMade()
	}
	gate := g.pick(&c)
	if c.Key == "" && ctx.Err() == nil {
		if at, ok := gate.Try(); ok {
			return Slot{at: at}, nil
		}
	}
	return g.enter(ctx, gate, &c)
}

func notMade() error {
	return &ioerr.ArgumentError{Name: "lane", Value: "", Reason: "was not made by its constructor"}
}

func noContext() error {
	return &ioerr.ArgumentError{Name: "ctx", Value: nil, Reason: "must not be nil"}
}

// Try implements [Gated]. A failure takes no turn, since Enter will.
func (g *gated) Try() (Slot, bool) {
	n := uint64(len(g.gates))
	if n == 1 {
		at, ok := g.gates[0].Try()
		return Slot{at: at}, ok
	}
	if n == 0 {
		return Slot{}, false
	}
	at, ok := g.gates[(g.next.Load()+1)%n].Try()
	if ok {
		g.next.Add(1)
	}
	return Slot{at: at}, ok
}

// gate is the only gate, or nil.
func (g *gated) gate() *lanegate.Gate {
	if len(g.gates) != 1 {
		return nil
	}
	return g.gates[0]
}

// pick chooses the gate: by key, by handle, or in turn.
func (g *gated) pick(c *Call) *lanegate.Gate {
	n := uint64(len(g.gates))
	switch {
	case n == 1:
		return g.gates[0]
	case c.Key != "":
		return g.gates[hash(c.Key)%n]
	case c.Handle != 0:
		// The upper half: the lower bits of a product depend on few of the factor's.
		return g.gates[(c.Handle*0x9E3779B97F4A7C15)>>32%n]
	}
	return g.gates[g.next.Add(1)%n]
}

// hash is FNV-1a (Fowler, Noll and Vo): short keys, also ones that differ in their last
// letter only, spread well over its lower bits, and the same key has the same shard
// in every process.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>32
}

// enter is the part of Enter that may wait. The key comes before the slot, so a
// caller that waits for its key holds no place in the queue; and no holder of a
// slot ever waits for a key (nested calls do not wait), so there is no cycle.
func (g *gated) enter(ctx context.Context, gate *lanegate.Gate, c *Call) (Slot, error) {
	if err := ctx.Err(); err != nil {
		if gate.Closed() && !c.Must {
			g.dead.shutdown.Add(1)
			return Slot{}, ioerr.ErrShutdown
		}
		g.dead.cancelled.Add(1)
		return Slot{}, err
	}
	policy := c.Policy
	if policy == 0 {
		policy = g.policy
	}
	r := lanegate.Request{
		Urgent:   c.Urgent,
		FailFast: policy == FailFast && !c.Beyond,
		NoWait:   c.NoWait,
		Must:     c.Must,
		Beyond:   c.Beyond,
		Expire:   c.Accept,
		Owner:    c.Owner,
	}
	var s Slot
	if c.Key != "" {
		var v lanegate.Verdict
		if s.key, s.Token, v = g.keyring.acquire(ctx, c.Key, &r); v == lanegate.Full {
			return Slot{}, ioerr.ErrKeyBusy
		} else if v != lanegate.Granted {
			return Slot{}, v.Refusal(ctx)
		}
	}
	var v lanegate.Verdict
	if s.at, v = gate.Acquire(ctx, &r); v != lanegate.Granted {
		g.keyring.release(&s)
		return Slot{}, v.Refusal(ctx)
	}
	return s, nil
}

// Leave implements [Lane]. It panics on the zero Slot. To give back a slot twice,
// or to another lane, is a fault of the program that need not be found.
func (g *gated) Leave(s Slot) {
	s.at.Release()
	if s.key != nil {
		g.keyring.release(&s)
	}
}

// Capabilities returns guaranteed execution on the caller's goroutine.
func (g *gated) Capabilities() Capabilities {
	return Capabilities{Execution: Guaranteed}
}

// SetKeyLimit makes n the limit of one key, from now on and whether or not calls
// with it are running; zero returns it to Config.PerKey. Calls beyond a lowered
// limit run to their end. Calls that began while their key had no limit at all are
// not counted. The error is an *ioerr.ArgumentError.
func (g *gated) SetKeyLimit(key string, n int) error {
	if key == "" {
		return &ioerr.ArgumentError{Name: "key", Value: key, Reason: "must not be empty"}
	}
	if n < 0 || n > maxWorkers {
		return &ioerr.ArgumentError{Name: "n", Value: n, Reason: "must be 1 to 65535, or 0 for the default"}
	}
	g.keys.setLimit(key, n)
	return nil
}

// Seal implements [Gated].
func (g *gated) Seal() {
	g.keys.each(true, func(gate *lanegate.Gate) { gate.Close() })
	for _, gate := range g.gates {
		gate.Close()
	}
}

// Evict implements [Gated].
func (g *gated) Evict(owner uint64) {
	if owner == 0 {
		return
	}
	g.tickets.Evict(owner) // before the gates: whoever comes to one after that is refused
	g.keys.each(false, func(gate *lanegate.Gate) { gate.Evict(owner) })
	for _, gate := range g.gates {
		gate.Evict(owner)
	}
}

// Forget implements [Gated].
func (g *gated) Forget(owner uint64) { g.tickets.Forget(owner) }

// Drain implements [Gated].
func (g *gated) Drain(ctx context.Context) error {
	if ctx == nil {
		return noContext()
	}
	for _, gate := range g.gates {
		if !gate.Drain(ctx) {
			return ctx.Err()
		}
	}
	return nil
}

// Shutdown implements [Lane].
func (g *gated) Shutdown(ctx context.Context) error {
	if err := g.stop(ctx); err != nil {
		return err
	}
	g.share.Release()
	return nil
}

// stop refuses newcomers and waits until what was accepted has run.
func (g *gated) stop(ctx context.Context) error {
	if ctx == nil {
		return noContext()
	}
	g.Seal()
	if err := g.Drain(ctx); err != nil {
		return err
	}
	for _, gate := range g.gates {
		gate.Shut()
	}
	// A Must call may have come in between.
	return g.Drain(ctx)
}
