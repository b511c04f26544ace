package lane

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/internal/pinned"
	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// PinnedConfig makes a Pinned lane. CPUs, Nice and IOPriority are for Linux; elsewhere
// NewPinned refuses them with an *ioerr.UnsupportedError that names the field and
// matches errors.ErrUnsupported.
type PinnedConfig struct {
	// Config is as for Threads, but that Workers is the number of threads, at most 8,192.
	// On Linux the threads are named, too, as "name-3": so much of the name as fits into
	// 15 bytes with the number.
	Config

	// Start runs on each thread before its first call, also on those that replace others.
	// NewPinned waits for it. If it fails, panics or ends its goroutine, there is no such
	// thread (*ioerr.StartError). Threads that replace others start one at a time, so it
	// must not hang. May be nil.
	Start func(i int) error

	// Stop runs on each thread whose Start has succeeded, as the last thing there: when
	// the lane is shut down, and on a thread that is replaced, in the state that its call
	// has left. May be nil.
	Stop func(i int)

	// CPUs are the sets of processors that the threads may use: thread i those in
	// CPUs[i%len(CPUs)]. One set is for all of them, Workers sets bind each to its own.
	// Empty: any.
	CPUs [][]int

	Nice       int        // of the threads, -20 to 19; 0: not changed
	IOPriority IOPriority // of the threads; zero: not changed

	// Keep, if positive, lets tainted threads sleep until the shutdown instead of ending
	// them: the end of a thread signals the children that it has started with
	// PR_SET_PDEATHSIG (os/exec's SysProcAttr.Pdeathsig). So many are replaced; those
	// beyond sleep too, but are missing in the lane (ioerr.ErrKept, when none is left).
	// At most 8,192 less Workers.
	Keep int
}

// IOClass is a scheduling class of disk requests.
type IOClass uint8

// The classes of Linux.
const (
	IORealTime   = IOClass(pinned.IORealTime)   // before all others; needs CAP_SYS_ADMIN or CAP_SYS_NICE
	IOBestEffort = IOClass(pinned.IOBestEffort) // what everybody has
	IOIdle       = IOClass(pinned.IOIdle)       // when nobody else wants the disk
)

// IOPriority is the priority of a thread's disk requests.
type IOPriority struct {
	Class IOClass
	Level int // 0 (first) to 7; 0 with IOIdle
}

// threads is the part of the config that the threads need. They hold on to the lane, so
// that they count among the threads of the process as long as they are there.
func (c *PinnedConfig) threads(l *Pinned) pinned.Config {
	stop := c.Stop
	return pinned.Config{
		Threads: c.Workers,
		Name:    c.Name,
		Start:   c.Start,
		Stop: func(i int) {
			if stop != nil {
				stop(i)
			}
			runtime.KeepAlive(l)
		},
		CPUs:       c.CPUs,
		Nice:       c.Nice,
		IOPriority: pinned.IOPriority{Class: pinned.IOClass(c.IOPriority.Class), Level: c.IOPriority.Level},
		Keep:       c.Keep,
	}
}

// Pinned runs calls on Workers operating system threads of its own, for what is bound to
// a thread: C libraries, namespaces, credentials, priorities, affinity. It is a
// [Carrier]: calls come by Carry, that is by pool.Offload, pool.OffloadOn and
// Pool.Register; inside, [ThreadOf] returns the thread. The gate in front is that of
// Threads, with its queue, policies, keys and events. A caller waits for the end of its
// call, whatever its context.
//
// Which thread a call gets is not to be chosen; what must stay on one thread is for a
// lane of one Worker, and what belongs together for one call, or for CarryBatch.
//
// A call whose thread must not be used again says so by [Thread.Taint]: the thread ends
// (see Keep), and one in its original state replaces it, with the same number. So it is
// after runtime.Goexit and after a [Thread.Restore] that failed. A replacement that
// cannot start is tried again with the next call that needs it; as long as other threads
// live, these serve its calls, and when there is none, calls are refused with the
// *ioerr.StartError.
//
// To hand a call to a thread means to wake that thread and to be woken by it, 10 us and
// more, where Threads needs some ten ns: put small operations together.
type Pinned struct {
	gated
	own     *pinned.Threads
	noEnter error
	cache   sync.Pool // of *handed

	mu    sync.Mutex // a leaf
	tails int        // see tail
	gone  signal.Crowd

	// Calls that had a slot and no thread. The gate has counted them as completed.
	dropped, reentered atomic.Uint64
}

// NewPinned makes a Pinned lane and starts its threads. Its error is an
// *ioerr.ArgumentError that names the field, an *ioerr.UnsupportedError for one that
// this platform, or this process, cannot have, an *ioerr.ThreadLimitError, or the
// *ioerr.StartError of the first thread that could not start; then the others are
// stopped.
func NewPinned(c PinnedConfig) (*Pinned, error) {
	each, err := c.Config.complete(min(procs(), pinned.MaxThreads))
	if err != nil {
		return nil, err
	}
	c.Config = each
	if c.Threadless {
		return nil, &ioerr.ArgumentError{Name: "lane.PinnedConfig.Threadless", Value: true, Reason: "its threads are there in any case"}
	}
	l := &Pinned{noEnter: &ioerr.UnsupportedError{
		What: "lane.Pinned.Enter",
		Err: fmt.Errorf("%w: such a call runs on the thread of its caller; pool.Offload and pool.OffloadOn use those of the lane",
			errors.ErrUnsupported),
	}}
	threads := c.threads(l)
	if err := threads.Check(); err != nil {
		return nil, err
	}
	if l.share, err = each.claim(each.Workers + c.Keep); err != nil {
		return nil, err
	}
	if l.own, err = pinned.New(threads); err != nil {
		l.share.Release()
		return nil, err
	}
	l.init(each, 0, 1, false)
	return l, nil
}

// Capabilities returns guaranteed execution on threads of the lane's own.
func (l *Pinned) Capabilities() Capabilities {
	return Capabilities{DedicatedThreads: true, Execution: Guaranteed}
}

// Enter implements [Lane]. It refuses every call with an *ioerr.UnsupportedError, since
// what comes by Enter runs on its caller's thread.
func (l *Pinned) Enter(ctx context.Context, c Call) (Slot, error) {
	switch {
	case ctx == nil:
		return Slot{}, noContext()
	case l.own == nil:
		return Slot{}, notMade()
	case l.gates[0].Closed() && !c.Must:
		return Slot{}, ioerr.ErrShutdown
	}
	return Slot{}, l.noEnter
}

// Try implements [Gated]. It is false, as Enter would refuse.
func (l *Pinned) Try() (Slot, bool) { return Slot{}, false }

// GiveUp implements [Carrier]. Nobody leaves a call here.
func (l *Pinned) GiveUp(uint64, error) {}

// tail counts calls that have a slot or are in their last steps without one.
func (l *Pinned) tail(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tails += n; l.tails == 0 {
		l.gone.WakeAll()
	}
}

// Drain implements [Gated]. It waits for the last steps of calls, too.
func (l *Pinned) Drain(ctx context.Context) error {
	if err := l.gated.Drain(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	if l.tails == 0 {
		l.mu.Unlock()
		return nil
	}
	if !l.gone.Wait(ctx, &l.mu) {
		return ctx.Err()
	}
	return nil
}

// Stats implements [Lane].
func (l *Pinned) Stats() Stats {
	dropped, reentered := l.dropped.Load(), l.reentered.Load() // before the gate, which has counted each of them already
	s := l.gated.Stats()
	s.Started -= dropped + reentered
	s.Completed -= dropped + reentered
	s.Dropped += dropped
	s.Accepted -= reentered
	s.Refused.Reentry += reentered
	if l.own != nil {
		t := l.own.Stats()
		s.Threads = ThreadStats{Alive: t.Threads, Kept: t.Kept, Vacant: t.Vacant, Retired: t.Retired}
	}
	return s
}

// Shutdown implements [Lane]. When the last call has ended, it ends the threads, kept
// ones too, and waits for their Stop. Its error is ctx.Err(), or, when everything is
// gone, the *ioerr.StopError of each Stop that panicked or ended its goroutine, joined
// (the first 16); later calls return the same.
func (l *Pinned) Shutdown(ctx context.Context) error {
	if err := l.stop(ctx); err != nil || l.own == nil {
		return err
	}
	if err := l.Drain(ctx); err != nil {
		return err
	}
	err := l.own.Close(ctx)
	if _, stopped := errors.AsType[*ioerr.StopError](err); err == nil || stopped {
		l.share.Release()
	}
	return err
}
