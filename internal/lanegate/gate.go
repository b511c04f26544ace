// Package lanegate is the admission core of iolane: a bounded number of slots,
// one bounded line of callers that wait for them, and the rules of who is next.
// Lanes use it for their slots, the registry for the exclusive use of one
// resource (a gate with one slot), pools to count who is inside.
//
// # The two halves
//
// The fast half is one word per shard: a caller that finds a free slot, and
// nobody with a better right, takes it with one compare-and-swap and gives it
// back with one add. The slots are spread over padded shards, and a caller's home
// shard follows from its stack address, so callers on different processors work
// on different cache lines.
//
// The slow half is the line, under one mutex: bounded, in order, a cancelled
// caller leaves it at once in O(1).
//
// # Why no wake-up is lost
//
// Two sides, two words: the line is announced in flags, the free slots are in the
// shards. Whoever is about to sleep first raises the waiting flag and then looks
// at every slot; whoever frees a slot first writes the shard and then looks at
// the flag. Go's atomics are sequentially consistent, so at least one of the two
// sees the other (Dekker's argument): the sleeper finds the slot, or the releaser
// finds the flag, takes the mutex and rouses the head of the line. The mutex is
// held from the raising of the flag until the ticket stands in the line, so a
// releaser that saw the flag finds the ticket.
//
// At most one roused caller is on its way at a time (flight). It clears flight
// under the mutex before it looks at the slots, so a slot freed before that look
// is seen by it and a slot freed later rouses again; and having looked, with or
// without success, it rouses the next if there is a slot for it (rouseFree). So does
// whoever else clears flight. Hence a releaser that finds flight after it has freed
// its slot has nothing to do.
// The model of this is docs/models/gate.pml.
//
// # Lock order
//
// A gate's mutex is a leaf: nothing else is locked under it, nothing blocks under
// it, and no code of the user runs under it. Gates of one [Group] lock one
// another's mutex only one at a time.
package lanegate

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/iolane/iolane/internal/signal"
)

// A shard's word: how many calls run (bits 0-15), whether newcomers are barred
// for good (bit 16), and how many calls were ever started (bits 17-63, wrapping
// harmlessly after some years of full speed). With closed set the lower 17 bits
// are larger than any number of slots, so one comparison refuses both a full and
// a closed shard, and the compare-and-swap that follows makes admission and
// lifecycle one atomic step.
const (
	running    = 1<<16 - 1
	closed     = 1 << 16
	oneStarted = 1 << 17
	oneCall    = oneStarted | 1

	// MaxSlots is the largest number of slots a gate can have.
	MaxSlots = maxShards * running

	maxShards = 8
)

// Flags tell the fast half what it may decide alone.
const (
	waiting  = 1 << iota // somebody stands in the line, or is about to
	starving             // the head has waited long: slots are handed over in order
	closing              // newcomers are refused
	indebted             // slots are to be withdrawn as they become free
	full                 // the queue of the callers that are not urgent is full
	flight               // a roused caller is on its way
	bars                 // callers who would have to wait are refused: see Bar
)

// shard is a part of the slots, on a cache line of its own.
type shard struct {
	word  atomic.Uint64
	slots atomic.Uint64
	_     [48]byte
}

// Slot is the right to run one call. The zero Slot is none.
type Slot struct {
	gate  *Gate
	shard uint32
}

// Config makes a gate. The caller has checked the values.
type Config struct {
	Slots    int           // 1 to MaxSlots
	Reserved int           // of these, for urgent callers alone; less than Slots, at most 65535
	Queue    int           // callers accepted but not started, for each class
	Waiters  int           // callers not yet accepted, for each class
	FailFast bool          // plain callers do not wait for acceptance; see Reject
	LIFO     bool          // the newest accepted caller is served first
	Patience time.Duration // how long newcomers may overtake; negative: never
	OnEdge   func(Edge)    // called on a goroutine of its own, in order, one at a time; may be nil
	Tickets  *Tickets      // cache shared with other gates; not nil
}

// Gate admits callers. Use [New].
type Gate struct {
	// Read by every call. Flags are written under mu only, so a load and a store will do
	// to change one of them.
	flags    atomic.Uint32
	block    uint32 // the flags that bar a newcomer from the fast half
	normal   uint32 // number of shards that everybody may use, a power of two
	shift    uint8
	failFast bool
	salt     atomic.Uint64 // changed when two callers collide on a shard
	shards   []shard       // the normal ones, then the reserved one if there is one
	group    *Group        // nil: stands alone
	number   uint          // in the group
	_        [32]byte

	arriving atomic.Int64 // slots handed over whose callers have not yet come to start

	mu        sync.Mutex
	state     state
	barred    [2]bool // the classes that may not wait: see Bar
	inherited bool    // somebody was told that he is the last out of a closed gate
	dissolved bool    // the line of a group's member has just dissolved
	favoured  bool    // the last freed slot went to the urgent line although others waited
	lines     [2]line
	total     int // callers in both lines
	limits    limits

	slots    int      // as configured or resized
	debt     int      // slots still to be withdrawn
	withheld []uint64 // withdrawn slots for each shard; they count as running there

	patient patience
	edges   edges
	counts  counts
	idlers  signal.Crowd // callers of Drain
	tickets *Tickets

	_        [64]byte
	rejected atomic.Uint64 // callers refused without the mutex, as Full
}

type limits struct {
	queue, waiters int
	lifo           bool
}

type state uint8

const (
	open     state = iota // admits; left by Close
	draining              // runs what was accepted, admits only Must; left by Close(final)
	shut                  // admits nothing
)

// New returns an open gate.
func New(c Config) *Gate {
	n := uint32(maxShards)
	normal := c.Slots - c.Reserved
	for int(n) > normal {
		n /= 2
	}
	g := &Gate{
		normal:   n,
		shift:    uint8(64 - bits.TrailingZeros32(n)),
		block:    starving | closing | indebted,
		failFast: c.FailFast,
		limits:   limits{c.Queue, c.Waiters, c.LIFO},
		slots:    c.Slots,
		patient:  newPatience(c.Patience),
		edges:    edges{fn: c.OnEdge},
		tickets:  c.Tickets,
	}
	if g.patient.strict() {
		g.block |= waiting
	}
	total := n
	if c.Reserved > 0 {
		total++
	}
	g.shards = make([]shard, total)
	for i := range n {
		g.shards[i].slots.Store(share(normal, int(n), int(i)))
	}
	if c.Reserved > 0 {
		g.shards[n].slots.Store(uint64(c.Reserved))
	}
	return g
}

// share is the part of total that the i-th of n shards gets.
func share(total, n, i int) uint64 {
	s := total / n
	if i < total%n {
		s++
	}
	return uint64(s)
}

// Try takes a slot if its home shard has one and nobody has a better right.
// False means only that Acquire has to look.
func (g *Gate) Try() (Slot, bool) {
	if g.flags.Load()&g.block != 0 {
		return Slot{}, false
	}
	i := g.home()
	s := &g.shards[i]
	if w := s.word.Load(); w&(closed|running) < s.slots.Load() && s.word.CompareAndSwap(w, w+oneCall) {
		return Slot{g, i}, true
	}
	return Slot{}, false
}

// home picks the caller's shard from the address of its stack: one goroutine
// stays on its line, two differ. Only a hint: any shard would be correct, so
// nothing depends on the address staying what it is.
func (g *Gate) home() uint32 {
	var here byte
	h := (uint64(uintptr(unsafe.Pointer(&here))>>11) + g.salt.Load()) * 0x9E3779B97F4A7C15
	return uint32(h >> g.shift)
}

// claim looks at every slot that the caller may use, normal or reserved ones, and
// takes the first free one. Accepted callers pass a closed shard. A normal slot
// that is free while slots are owed is about to be withdrawn.
func (g *Gate) claim(normal, reserved, accepted bool) (Slot, bool) {
	most := uint64(closed | running)
	if accepted {
		most = running
	}
	if normal && g.flags.Load()&indebted == 0 {
		home := g.home()
		for i := range g.normal {
			if i := (home + i) & (g.normal - 1); g.claimShard(i, most) {
				return Slot{g, i}, true
			}
		}
	}
	if reserved && g.normal < uint32(len(g.shards)) && g.claimShard(g.normal, most) {
		return Slot{g, g.normal}, true
	}
	if normal && g.group != nil {
		return g.group.borrow(g)
	}
	return Slot{}, false
}

// claimShard takes a slot of the shard if the bits of its word in most tell of a free
// one.
func (g *Gate) claimShard(i uint32, most uint64) bool {
	s := &g.shards[i]
	for {
		w := s.word.Load()
		if w&most >= s.slots.Load() {
			return false
		}
		if s.word.CompareAndSwap(w, w+oneCall) {
			return true
		}
		// Two processors on one line. One collision in sixteen draws a new salt,
		// which parts them for good.
		if r := rand.Uint64(); r&15 == 0 {
			g.salt.Store(r >> 8)
		}
	}
}

// spare reports whether a shard that everybody may use has a free slot, by the bits of
// its word in most.
func (g *Gate) spare(most uint64) bool {
	for i := range g.normal {
		if s := &g.shards[i]; s.word.Load()&most < s.slots.Load() {
			return true
		}
	}
	return false
}

// free reports whether claim could succeed for an accepted caller. The mutex is
// held.
func (g *Gate) free(urgent bool) bool {
	if g.debt == 0 && g.spare(running) {
		return true
	}
	if urgent && g.normal < uint32(len(g.shards)) {
		if s := &g.shards[g.normal]; s.word.Load()&running < s.slots.Load() {
			return true
		}
	}
	return g.group != nil && g.group.lends(g)
}
