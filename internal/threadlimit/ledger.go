package threadlimit

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/ioerr"
)

// Limit is one bound on the threads of this process.
type Limit struct {
	By     string // what sets it
	Max    int    // what that says
	Others int    // how many of these other processes have, where that is known
}

// besides is kept for the runtime and for what blocks outside of lanes, in addition to
// GOMAXPROCS.
const besides = 16

// Ledger is a sum of claims that fits the limits. The zero Ledger is ready to use, with
// the limits of this process.
type Ledger struct {
	// Limits reads the limits; nil means those of this process. It is called under
	// the ledger's mutex.
	Limits func() []Limit

	mu      sync.Mutex
	read    bool
	limit   Limit // the one that leaves least
	kept    int   // of limit.Max
	claimed int   // by all shares
}

// process is the ledger of all lanes; see the package for why there can be only one.
//
//nolint:gochecknoglobals // the threads of a process are limited for the process, whoever needs them
var process Ledger

// Share is what one lane has claimed. A nil Share is of no threads, and its methods do
// nothing.
type Share struct {
	ledger  *Ledger
	lane    string
	threads int  // guarded by ledger.mu
	over    bool // likewise: given back
}

// Claim counts the threads that a lane may need at most, from the ledger of the process.
// The error is an *ioerr.ThreadLimitError.
func Claim(lane string, threads int) (*Share, error) { return process.Claim(lane, threads) }

// Claim counts the threads that a lane may need at most. They are given back by
// [Share.Release], or when the share, to which nobody but its lane must refer, has been
// forgotten with it and collected.
func (l *Ledger) Claim(lane string, threads int) (*Share, error) {
	s := &Share{ledger: l, lane: lane}
	if err := s.Resize(threads); err != nil {
		return nil, err
	}
	// Not runtime.AddCleanup: that costs three allocations and twice the time, of every
	// pool. What speaks against finalizers does not matter here: a share refers to
	// nothing that it keeps alive for longer, and nothing can bring it back.
	runtime.SetFinalizer(s, (*Share).giveBack)
	return s, nil
}

// Resize changes the share. Less is always granted; for more the error is an
// *ioerr.ThreadLimitError, and nothing has changed. A share that was given back stays
// so.
func (s *Share) Resize(threads int) error {
	if s == nil {
		return nil
	}
	err := s.resize(threads)
	if e, ok := errors.AsType[*ioerr.ThreadLimitError](err); ok && e.Others > 0 {
		collect() // some of the others may have been forgotten
		if s.others() < e.Others {
			err = s.resize(threads)
		}
	}
	return err
}

// others is what is claimed by all other shares.
func (s *Share) others() int {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.claimed - s.threads
}

// collect has the runtime look for shares that nobody refers to any more, and waits until
// their finalizers have run, or for a while.
func collect() {
	for range 2 { // what a finalizer was set for goes with the first, what referred to it before that
		var done atomic.Bool
		runtime.SetFinalizer(&struct{ _ [16]byte }{}, func(any) { done.Store(true) })
		runtime.GC()
		for n := 0; n < 10_000 && !done.Load(); n++ {
			runtime.Gosched()
		}
	}
}

func (s *Share) resize(threads int) error {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.over {
		return nil
	}
	others := l.claimed - s.threads
	if threads > s.threads && !l.fits(threads, others) {
		return &ioerr.ThreadLimitError{
			Lane: s.lane, Threads: threads, Others: others,
			Limit: l.limit.Max, Kept: l.kept, By: l.limit.By,
		}
	}
	s.threads, l.claimed = threads, others+threads
	return nil
}

// Release gives the share back. Further calls do nothing.
func (s *Share) Release() {
	if s == nil {
		return
	}
	runtime.SetFinalizer(s, nil)
	s.giveBack()
}

func (s *Share) giveBack() {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	if !s.over {
		s.over = true
		s.ledger.claimed -= s.threads
	}
}

// fits reports whether there is room for so many threads beside those of others, by
// the limits as they were read or as they are now. mu is held.
func (l *Ledger) fits(threads, others int) bool {
	room := func() bool { return threads <= l.limit.Max-l.kept-others }
	if l.read && room() {
		return true
	}
	l.look()
	return room()
}

// look reads the limits and keeps the one that leaves least. mu is held.
func (l *Ledger) look() {
	limits := l.Limits
	if limits == nil {
		limits = system
	}
	own := runtime.GOMAXPROCS(0) + besides
	l.read = false
	for _, c := range limits() {
		if kept := own + c.Others; !l.read || c.Max-kept < l.limit.Max-l.kept {
			l.read, l.limit, l.kept = true, c, kept
		}
	}
}
