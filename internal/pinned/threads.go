package pinned

import (
	"sync"

	"github.com/iolane/iolane/internal/signal"
)

// Threads are goroutines locked to threads. Use [New]; call Close at the end. Safe for
// concurrent use.
type Threads struct {
	config Config
	onMain func() bool   // the calling thread is the main thread
	spawn  func(*Thread) // starts the goroutine of a thread
	jobs   sync.Pool     // of *Job that nobody uses
	over   signal.Latch  // closed, and the last goroutine has gone

	mu      sync.Mutex // a leaf: nothing is called, locked or waited for under it
	line    line       // jobs that wait for a thread
	idle    []*Thread  // they sleep, and nobody has roused them; the warmest last
	flight  *Thread    // roused, and has not come yet
	kept    []*Thread  // they sleep until Close
	seats   []bool     // by number: a goroutine serves there, or will
	vacant  int        // numbers of which that is not so
	why     error      // the last StartError
	closing bool       // newcomers are refused; for good
	live    int        // goroutines that will still take mu
	counts  [states]int
	retired uint64
	stops   []error // the first StopErrors, for Close
}

// New starts the threads, and returns when Start has returned on all of them. If one
// fails the others are stopped, and the error is the *ioerr.StartError of the one with the
// lowest number.
func New(c Config) (*Threads, error) {
	s, err := newThreads(c)
	if err != nil {
		return nil, err
	}
	if err := s.startAll(); err != nil {
		return nil, err
	}
	return s, nil
}

// newThreads returns Threads without any thread.
func newThreads(c Config) (*Threads, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	s := &Threads{
		config: c,
		onMain: onMainThread,
		idle:   make([]*Thread, 0, c.Threads),
		seats:  make([]bool, c.Threads),
		vacant: c.Threads,
	}
	s.spawn = func(t *Thread) { go s.main(t, nil) }
	return s, nil
}

// Stats is one moment of [Threads].
//
//	Threads == Starting + Idle + Running + Leaving + Kept
type Stats struct {
	Threads  int // that exist
	Starting int // Start runs
	Idle     int
	Running  int
	Leaving  int // Stop runs
	Kept     int // tainted, asleep until Close
	Vacant   int // numbers without a thread, because it could not start, or after Close
	Waiting  int // callers for whom there is no thread yet

	Retired uint64 // tainted threads taken out of service, from the beginning; the kept ones too
}

// Stats returns one consistent snapshot.
func (s *Threads) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.counts
	return Stats{
		Threads:  n[starting] + n[idle] + n[running] + n[leaving] + n[kept],
		Starting: n[starting],
		Idle:     n[idle],
		Running:  n[running],
		Leaving:  n[leaving],
		Kept:     n[kept],
		Vacant:   s.vacant,
		Waiting:  s.line.n,
		Retired:  s.retired,
	}
}

// become changes the state of a thread. mu is held.
func (s *Threads) become(t *Thread, st state) {
	s.counts[t.state]--
	s.counts[st]++
	t.state = st
}

// help sees to it that somebody comes for the line: it returns a thread to be woken
// after mu, or starts one if there is nobody to wake. mu is held.
func (s *Threads) help() *Thread {
	roused := s.rouse()
	coming := 0
	if s.flight != nil {
		coming = 1
	}
	if s.line.n > coming && len(s.idle) == 0 {
		s.refill()
	}
	return roused
}

// rouse takes the warmest idle thread off its stack if there is work and nobody is on
// the way to it. The caller wakes it after mu. mu is held.
func (s *Threads) rouse() *Thread {
	last := len(s.idle) - 1
	if s.line.n == 0 || s.flight != nil || last < 0 {
		return nil
	}
	t := s.idle[last]
	s.idle[last] = nil
	s.idle = s.idle[:last]
	s.flight = t
	return t
}

// wake wakes a thread that rouse returned.
func (t *Thread) wake() {
	if t != nil {
		t.Wake()
	}
}
