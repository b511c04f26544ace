package ringdriver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/uring"
)

var (
	// ErrUnserved is the Err of an operation that the ring has not done, and will not: it is
	// for another engine. What a Full transfer has moved by then stays in N.
	ErrUnserved = errors.New("operation not served by the ring")
	// ErrRefused is ErrUnserved because the kernel does not do this, or not for this file.
	ErrRefused = fmt.Errorf("%w: refused", ErrUnserved)
)

// Config makes a driver.
type Config struct {
	Slots   int // operations in flight at most; those beyond wait
	Workers int // threads that the kernel may have for each thread that submits; 0: as it likes

	// Without are operations of the kernel that are not to be used, as if it did not have
	// them.
	Without []uring.Op

	// Tamper, for tests, changes what the kernel has said of an operation. May be nil.
	Tamper func(op *fileop.Op, res int32) int32

	// OnDown is called when the ring had to be taken out of use, with the reason, on a
	// goroutine of its own, for which Close waits. May be nil.
	OnDown func(error)
}

// Driver drives one ring. Use [New].
type Driver struct {
	inbox inbox
	state atomic.Uint64 // who owns what follows; see the package comment
	turns atomic.Uint64 // counts switches to fibers, for the watch; not each
	down  atomic.Pointer[error]
	count counts
	_     [64]byte

	// The owner's.
	ring      *uring.Ring
	reaped    func(uring.Completion)
	table     []flight // by the index of the slot
	inFlight  int
	fresh     int       // operations on files that have been described and not been handed over
	pending   line      // requests with operations to be described, in order of arrival
	ready     []*Fiber  // that can go on
	next      int       // in ready
	calledOff []use     // to be cancelled
	insisted  []use     // that were, and are to be again if they do not end
	due       time.Time // when the first of insisted is
	chain     chain
	woken     int // callers of Run, since the last yield
	breath    time.Time
	slab      *fileop.Slab // registered; or nil
	fixed     int          // operations in flight that use registered memory
	dropped   bool         // the registration ends with the last of these
	stopping  bool
	yielder   *yielder

	onDown  func(error)
	without []uring.Op
	tamper  func(*fileop.Op, int32) int32
	ended   chan struct{}  // closed by the last driver
	helpers sync.WaitGroup // all goroutines of the driver's, itself included

	leaving sync.Mutex
	left    error         // why the ring could not be closed; set before ended, then under leaving
	closing time.Duration // how long its end may take

	watching watching
	requests sync.Pool
}

// flight is an operation in flight.
type flight struct {
	req   *request
	i     int
	slot  uring.Slot
	fixed bool // it uses registered memory
}

// use is one use of a request that was called off.
type use struct {
	req   *request
	turn  uint64
	due   time.Time     // when it is to be cancelled
	pause time.Duration // since it was the last time
}

// counts is what [Driver.Stats] tells.
type counts struct {
	operations, dropped, enters, kicks, retries, takeovers atomic.Uint64
}

// Stats is what a driver has done.
type Stats struct {
	Operations uint64 // that the kernel has completed
	Dropped    uint64 // called off while the kernel did not have them
	Enters     uint64 // system calls
	Kicks      uint64 // times that the driver had to be woken in the kernel
	Retries    uint64 // operations lost with a thread, and done again
	TakeOvers  uint64 // drivers started because a fiber was blocked
}

// New sets a ring up and starts its driver. The error is an *uring.Error.
func New(c Config) (*Driver, error) {
	r, err := uring.New(uring.Config{Slots: c.Slots})
	if err != nil {
		return nil, err
	}
	if c.Workers > 0 {
		// Without such a limit the kernel has one of its own.
		_, _, _ = r.LimitWorkers(c.Workers, c.Workers)
	}
	d := &Driver{ring: r, onDown: c.OnDown, without: c.Without, tamper: c.Tamper, ended: make(chan struct{}), closing: closing}
	d.inbox.roused = make(chan struct{}, 1)
	d.yielder = newYielder()
	d.chain.back = make(chan struct{}, 1)
	d.table = make([]flight, r.Info().Slots)
	d.reaped = d.completed
	d.requests.New = func() any { return newRequest() }
	d.helpers.Go(func() { d.drive(0) })
	return d, nil
}

// Info is what the ring turned out to be.
func (d *Driver) Info() *uring.Info { return d.ring.Info() }

// Down is why the ring is out of use, or nil.
func (d *Driver) Down() error {
	if err := d.down.Load(); err != nil {
		return *err
	}
	return nil
}

// Stats is what the driver has done so far.
func (d *Driver) Stats() Stats {
	c := &d.count
	return Stats{c.operations.Load(), c.dropped.Load(), c.enters.Load(), c.kicks.Load(), c.retries.Load(), c.takeovers.Load()}
}

// Close ends the driver and the ring, and waits for it. Nothing must be in flight, no fiber
// must be left, and there must be no other call. Without an error no goroutine is left. The error is
// that of ctx, after which the end goes on without the caller, or an *uring.LeftError: then
// another Close may succeed, when what was left in flight has ended.
func (d *Driver) Close(ctx context.Context) error {
	d.send(&message{kind: stop})
	select {
	case <-d.ended:
		return d.closed()
	case <-ctx.Done():
	}
	// The driver has only to hear of it: whoever has no time still gets the answer.
	end := time.NewTimer(soon)
	defer end.Stop()
	select {
	case <-d.ended:
		return d.closed()
	case <-end.C:
		return ctx.Err()
	}
}

// closed is what came of the end, which has come. A ring that was left is nobody's since then, so
// whoever asks tries once more.
func (d *Driver) closed() error {
	d.helpers.Wait()
	d.leaving.Lock()
	defer d.leaving.Unlock()
	if d.left != nil {
		d.ring.Wake() // as in finish
		d.left = d.ring.Close(0, nil)
	}
	return d.left
}

// send gives a message to the driver, and wakes it if need be.
func (d *Driver) send(m *message) {
	switch d.inbox.push(m) {
	case &d.inbox.asleep:
		d.count.kicks.Add(1)
		d.ring.Wake()
	case &d.inbox.idle:
		d.inbox.roused <- struct{}{}
	}
}
