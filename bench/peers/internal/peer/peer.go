// Package peer puts every way to run blocking calls, a bounded number at a time,
// behind one contract, so that they can be measured side by side: a call with a
// context goes in, the caller waits, and its result and error come out.
//
// Each library is used as its documentation shows. Where that leaves a choice
// (the length of a channel, a pool of results) the file of the adapter says which
// was made and why.
package peer

import (
	"context"
	"errors"
)

// A Func is a call.
type Func func(context.Context) (int, error)

// An ArgFunc is a call with an argument of its own.
type ArgFunc func(ctx context.Context, arg int) (int, error)

// A TxFunc is a call that has a resource to itself.
type TxFunc func(ctx context.Context, r *Resource) (int, error)

// A Resource is what transactions work on. Whoever has it may change N without
// further ado.
type Resource struct {
	N int
	_ [120]byte // no two resources share a cache line
}

// A Peer runs calls.
type Peer interface {
	// Call runs fn, waits for it, and returns what it returned. If the peer can
	// cancel, a caller that is not yet served when ctx ends returns its error.
	Call(ctx context.Context, fn Func) (int, error)

	// CallArg runs fn(ctx, arg) as a user would write it: in a closure, made for
	// this one call, that captures what it needs.
	CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error)

	// Close stops the peer. No call may be in progress, unless the peer drains.
	Close() error
}

// A Trier can refuse.
type Trier interface {
	// TryCall is Call if there is a free slot, and an error otherwise.
	TryCall(ctx context.Context, fn Func) (int, error)
}

// A Batcher hands over several calls at once. All others make one call that makes them.
type Batcher interface {
	// CallBatch runs the calls one after another, and returns the first error.
	CallBatch(ctx context.Context, fns []Func) error
}

// A Transactor owns resources, numbered from 0.
type Transactor interface {
	// Transact is Call with the exclusive use of resource i.
	Transact(ctx context.Context, i int, fn TxFunc) (int, error)
}

// A Churner takes in resources while it runs.
type Churner interface {
	// Churn makes a new resource, runs one transaction on it, and gives it up.
	Churn(ctx context.Context, fn TxFunc) (int, error)
}

// Config says what a peer is to be made for.
type Config struct {
	Slots     int  // calls that may run at a time
	Callers   int  // callers that there will be at most; bounded queues must have room for them
	Resources int  // resources to transact on
	Refuse    bool // TryCall will be used: what cannot run at once is refused, and nothing queued
}

// A Kind says how a peer runs calls.
type Kind string

// The kinds.
const (
	Inline  Kind = "inline"   // on the caller's goroutine
	HandOff Kind = "hand-off" // on another goroutine, to which the call is handed
)

// A Set of abilities.
type Set uint

// The abilities.
const (
	Calls     Set = 1 << iota // is measured with plain calls
	Cancels                   // a waiting caller leaves when its context ends
	Tries                     // is a Trier
	Transacts                 // is a Transactor
	Churns                    // is a Churner
	Drains                    // Close may be called while callers wait: each is served or refused
)

// Has reports whether all of want is in s.
func (s Set) Has(want Set) bool { return s&want == want }

// A Maker makes peers of one sort.
type Maker struct {
	Name    string
	About   string
	Kind    Kind
	Bounded bool  // keeps to Config.Slots
	Ours    bool  // is one of iolane's lanes
	Does    Set   // what it is measured at
	Full    error // what TryCall returns when every slot is taken
	New     func(Config) (Peer, error)
}

// All returns every maker there is, in the order of tables.
func All() []Maker {
	var all []Maker
	for _, group := range [][]Maker{baselines(), ours(), semaphores(), workers(), libraries(), transactors()} {
		all = append(all, group...)
	}
	return all
}

func baselines() []Maker { return []Maker{bareMaker(), goroutineMaker()} }

func ours() []Maker {
	return []Maker{
		threadsMaker(), strictMaker(), shardedMaker(), ringMaker(), inlineMaker(), unguardedMaker(), sharedMaker(),
		abandoningMaker(), pinnedMaker(),
	}
}

func semaphores() []Maker {
	return []Maker{
		xSemaphoreMaker(), chanSemMaker(), chanSemTryMaker(), failsafePermitMaker(), failsafeMaker(), puddleMaker(),
	}
}

func workers() []Maker {
	return []Maker{chanWorkersMaker(), chanWorkersBufMaker(), chanWorkersPooledMaker(), chanWorkersLockedMaker()}
}

func libraries() []Maker {
	return []Maker{
		antsMaker(), antsFuncMaker(), pondMaker(), tunnyMaker(), workerpoolMaker(), concMaker(), errgroupMaker(),
	}
}

func transactors() []Maker {
	return []Maker{mutexMaker(), mutexSemaphoreMaker(), mutexChanSemMaker()}
}

// errFull is the refusal of those who have none of their own.
var errFull = errors.New("peer: every slot is taken")

// outcome is what a call returned, on its way to the caller.
type outcome struct {
	v   int
	err error
}
