package lane

import (
	"context"
	"sync"

	"github.com/iolane/iolane/internal/lanegate"
)

// keyTable holds a gate for each key that has a limit and is in use. The mutex
// guards the maps and the reference counts; it is never held while a gate is
// waited for, and comes before the gates' own.
type keyTable struct {
	perKey int             // limit of keys without an exception; 0: none
	gate   lanegate.Config // but for Slots

	mu     sync.Mutex
	gates  map[string]*keyGate
	limits map[string]int // the exceptions
	sealed bool
	past   lanegate.Stats // refusals of gates no longer in use
}

// keyGate is the limit of one key. It lives while somebody holds or waits for it.
type keyGate struct {
	*lanegate.Gate
	key  string
	refs int
}

// acquire counts the call against its key. Without a limit there is nothing to
// count, and the gate is nil. shard is where the call counts in the gate.
func (t *keyTable) acquire(ctx context.Context, key string, r *lanegate.Request) (k *keyGate, shard uint64, v lanegate.Verdict) {
	k, ok := t.refer(key)
	if !ok {
		return nil, 0, lanegate.Granted
	}
	s, v := k.Acquire(ctx, r)
	if v != lanegate.Granted {
		t.drop(k)
		return nil, 0, v
	}
	return k, uint64(s.Shard()), v
}

// release gives back what acquire took.
func (t *keyTable) release(s *Slot) {
	if s.key != nil {
		s.key.Slot(uint32(s.Token)).Release()
		t.drop(s.key)
	}
}

func (t *keyTable) refer(key string) (*keyGate, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit := t.limit(key)
	if limit == 0 {
		return nil, false
	}
	k := t.gates[key]
	if k == nil {
		c := t.gate
		c.Slots = limit
		k = &keyGate{Gate: lanegate.New(c), key: key}
		if t.sealed {
			k.Close()
		}
		if t.gates == nil {
			t.gates = make(map[string]*keyGate)
		}
		t.gates[key] = k
	}
	k.refs++
	return k, true
}

func (t *keyTable) limit(key string) int {
	if n, ok := t.limits[key]; ok {
		return n
	}
	return t.perKey
}

func (t *keyTable) drop(k *keyGate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.refs--; k.refs == 0 {
		delete(t.gates, k.key)
		addRefusals(&t.past, k.Stats())
		k.Shut() // stops its timer, which would keep it alive
	}
}

func (t *keyTable) setLimit(key string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n == 0 {
		delete(t.limits, key)
	} else {
		if t.limits == nil {
			t.limits = make(map[string]int)
		}
		t.limits[key] = n
	}
	if k := t.gates[key]; k != nil {
		if n = t.limit(key); n == 0 {
			n = maxWorkers
		}
		k.Resize(n)
	}
}

// each visits the gates in use; with seal set, later ones are born closed.
func (t *keyTable) each(seal bool, visit func(*lanegate.Gate)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sealed = t.sealed || seal
	for _, k := range t.gates {
		visit(k.Gate)
	}
}

// stats returns the callers that wait for a key, and all refusals. Nobody is
// accepted by a key, so whoever left its line was refused.
func (t *keyTable) stats() lanegate.Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.past
	for _, k := range t.gates {
		s := k.Stats()
		sum.Waiting += s.Waiting + s.Queued
		addRefusals(&sum, s)
	}
	return sum
}

func addRefusals(sum *lanegate.Stats, s lanegate.Stats) {
	for i, n := range s.Refused {
		sum.Refused[i] += n
	}
	sum.Refused[lanegate.Ended] += s.Dropped
}
