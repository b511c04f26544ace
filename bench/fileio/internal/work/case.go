// Package work is what is measured: the cases, the operations that a case consists of,
// the data that they move, and the counting.
package work

import (
	"fmt"
	"time"
)

// Kind is what the operations of a case do.
type Kind string

// The kinds.
const (
	Read  Kind = "read"
	Write Kind = "write"
	Nop   Kind = "nop"
	Sleep Kind = "sleep"
)

// Cache is what the page cache has of the file before a case begins.
type Cache string

// The states of the cache. Direct transfers go past it.
const (
	Direct Cache = "direct"
	Hot    Cache = "hot"  // all that the case reads
	Half   Cache = "half" // the first half of it
	Cold   Cache = "cold" // nothing
)

// Case is one measurement that all contenders make in turns.
type Case struct {
	Name  string // shape, and what tells it from the others of its shape
	Shape string
	Kind  Kind
	Cache Cache

	Sequential bool // from the beginning to the end, and then back through a check of every word
	Burners    bool // as many goroutines as processors compute all the time

	Block   int   // bytes of a transfer
	Size    int64 // of the file
	Range   int64 // of its beginning, which offsets are taken from
	Depth   int   // operations at a time: of fio, slots of lanes with threads, and the semaphore
	Callers int   // goroutines that ask
	Slots   int   // of lanes that need no thread for each

	Time  time.Duration // how long; 0: once through the file, or Count
	Count int64         // of sleeps
	Sleep time.Duration // each
}

// Params are what the caller may choose of the cases.
type Params struct {
	Size   int64         // of files; 0: the shape's
	Time   time.Duration // of those that are bound by time
	Depths []int
	Quick  bool // as little as shows that everything works
}

// Shapes are the names of the shapes, in order.
func Shapes() []string { return []string{"seq", "rand", "goroutines", "saturated", "nop", "timers"} }

const (
	mib        = 1 << 20
	smallBlock = 4 << 10
	largeBlock = 512 << 10
	hotRange   = 64 * mib
)

// Cases of the named shape. Those that write come after those that read.
func Cases(shape string, p Params) []Case {
	size := func(standard int64) int64 {
		switch {
		case p.Size > 0:
			return p.Size
		case p.Quick:
			return 8 * mib
		}
		return standard
	}
	if len(p.Depths) == 0 {
		p.Depths = []int{1, 4, 16, 64, 256}
		if p.Quick {
			p.Depths = []int{4}
		}
	}
	switch shape {
	case "seq":
		depth := 64
		if p.Quick {
			depth = 4
		}
		return []Case{{
			Name: "seq", Shape: shape, Kind: Write, Cache: Direct, Sequential: true, Block: largeBlock,
			Size: size(16 << 10 * mib), Range: size(16 << 10 * mib), Depth: depth, Callers: depth, Slots: depth,
		}}
	case "rand":
		return random(p, size(2<<10*mib))
	case "goroutines", "saturated":
		return crowds(shape, p, size(2<<10*mib))
	case "nop":
		return nops(p)
	case "timers":
		return timers(p)
	}
	return nil
}

func random(p Params, size int64) []Case {
	var all []Case
	for _, kind := range []Kind{Read, Write} {
		for _, cache := range []Cache{Direct, Hot, Half, Cold} {
			if kind == Write && (cache == Half || cache == Cold) {
				continue // a write of whole pages does not ask what was there
			}
			for _, depth := range p.Depths {
				c := small("rand", size, p.Time)
				c.Name = fmt.Sprintf("rand/%s/%s/%d", cache, kind, depth)
				c.Kind, c.Cache = kind, cache
				c.Depth, c.Callers, c.Slots = depth, depth, depth
				if cache == Hot {
					c.Range = min(size, hotRange)
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// small is a case of direct reads of 4 KiB at random.
func small(shape string, size int64, d time.Duration) Case {
	return Case{Shape: shape, Kind: Read, Cache: Direct, Block: smallBlock, Size: size, Range: size, Time: d}
}

func crowds(shape string, p Params, size int64) []Case {
	callers := []int{64, 1024}
	switch {
	case p.Quick:
		callers = []int{16}
	case shape == "saturated":
		callers = callers[:1]
	}
	var all []Case
	for _, n := range callers {
		c := small(shape, size, p.Time)
		c.Name = fmt.Sprintf("%s/%d", shape, n)
		c.Depth, c.Callers, c.Slots = min(n, 64), n, n
		c.Burners = shape == "saturated"
		all = append(all, c)
	}
	return all
}

func nops(p Params) []Case {
	var all []Case
	for _, depth := range p.Depths {
		all = append(all, Case{
			Name: fmt.Sprintf("nop/%d", depth), Shape: "nop", Kind: Nop,
			Depth: depth, Callers: depth, Slots: depth, Time: p.Time,
		})
	}
	return all
}

func timers(p Params) []Case {
	counts, each := []int{10_000, 50_000}, 2*time.Second
	if p.Quick {
		counts, each = []int{500}, 20*time.Millisecond
	}
	var all []Case
	for _, n := range counts {
		all = append(all, Case{
			Name: fmt.Sprintf("timers/%d", n), Shape: "timers", Kind: Sleep,
			Depth: n, Callers: n, Slots: n, Count: int64(n), Sleep: each,
		})
	}
	return all
}

// NeedsFile tells whether the case works on a file that is there before, with data.
func (c *Case) NeedsFile() bool { return c.Block > 0 && !c.Sequential }

// Blocks is how many blocks the range has.
func (c *Case) Blocks() int64 { return max(c.Range, 0) / int64(max(c.Block, 1)) }
