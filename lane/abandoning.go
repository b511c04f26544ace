package lane

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// AbandoningConfig makes an Abandoning lane.
type AbandoningConfig struct {
	// Config is as for Threads.
	Config

	// CallLimit is how long a call may run until its caller leaves it. Zero means
	// 30 s; NoLimit means for ever: then only the context ends the wait.
	CallLimit time.Duration

	// Grace is how long a caller goes on waiting after its context, or CallLimit, has
	// ended: many a call ends soon after that by itself. Zero means 100 ms; NoGrace
	// means not at all.
	Grace time.Duration

	// Interrupt makes a system call in which a carried call is blocked return EINTR when
	// its context, or CallLimit, has ended, by a signal aimed at its thread that is sent
	// again until the call has ended or Grace has; only then is the call left. It works
	// on Linux for amd64, arm64 and 386; elsewhere NewAbandoning returns an error that
	// matches errors.ErrUnsupported. It is for calls by package syscall or x/sys/unix,
	// which return EINTR, and should then look at their context: package os tries again.
	// Nothing ends a call that the kernel does not let a signal end (a disk that does not
	// answer, NFS). Each call is locked to a thread while it runs, which makes it slow
	// if it waits for other goroutines. The lane uses one real-time signal, number 40,
	// from its making until Shutdown has returned nil.
	Interrupt bool

	// Left is how many calls may be left running at a time, each in a slot beside
	// the lane's. Beyond it a call that is left keeps its slot until it, or one of those
	// beside it, has ended. Zero means 32, at most 4,096: each costs a thread.
	Left int

	// LeftPerHandle and LeftPerKey are how many of them may have the same Handle or
	// Key: with so many the next call is refused (*ioerr.StuckError). Zero means 1.
	LeftPerHandle, LeftPerKey int

	// OnLate is called when a call that was left has ended after all, on the
	// goroutine that ran it. Shutdown waits for it, so it must not call Shutdown. A panic
	// in it is counted with those of OnEvent.
	OnLate func(LeftCall)
}

// Special values for AbandoningConfig.
const (
	NoLimit = time.Duration(-1) // for CallLimit
	NoGrace = time.Duration(-1) // for Grace
)

// Defaults and limits.
const (
	defaultCallLimit = 30 * time.Second
	defaultGrace     = 100 * time.Millisecond
	defaultLeft      = 32

	maxLeft = 1 << 12
)

// complete checks the fields that Config does not have and fills in the defaults.
func (c AbandoningConfig) complete() (AbandoningConfig, error) {
	bad := func(field string, value any, reason string) (AbandoningConfig, error) {
		return c, &ioerr.ArgumentError{Name: "lane.AbandoningConfig." + field, Value: value, Reason: reason}
	}
	switch {
	case c.CallLimit == 0:
		c.CallLimit = defaultCallLimit
	case c.CallLimit < 0 && c.CallLimit != NoLimit:
		return bad("CallLimit", c.CallLimit, "must be positive, 0 for the default, or NoLimit")
	}
	switch {
	case c.Grace == 0:
		c.Grace = defaultGrace
	case c.Grace == NoGrace && c.Interrupt:
		return bad("Grace", c.Grace, "must leave a call time to end when it is interrupted")
	case c.Grace == NoGrace:
		c.Grace = 0
	case c.Grace < 0:
		return bad("Grace", c.Grace, "must be positive, 0 for the default, or NoGrace")
	}
	for _, f := range []struct {
		name  string
		value *int
		zero  int
	}{{"Left", &c.Left, defaultLeft}, {"LeftPerHandle", &c.LeftPerHandle, 1}, {"LeftPerKey", &c.LeftPerKey, 1}} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < 0 || *f.value > maxLeft {
			return bad(f.name, *f.value, "must be 1 to 4096, or 0 for the default")
		}
	}
	return c, nil
}

// Abandoning is Threads for calls that may never return: on a mount whose server is
// gone, a failing drive, a lock that nobody gives back. A call that comes through
// [Abandoning.Carry] (pool.Offload) runs on a goroutine of its own; when its context or
// the lane's limit ends, its caller leaves it, and its slot is given to others at once.
// It is then counted and listed until it ends. When such calls keep every slot (see
// AbandoningConfig.Left), whoever comes gets ErrSaturated, and so does whoever waits for
// a slot at that moment, accepted or not, until one of them has ended.
//
// Give each of the things that may hang a handle or a key of its own: then one that does
// hang keeps one call, and the next ones are refused at once; without them it can use up
// all that may be left.
//
// What comes by Enter (pool.Run) runs on its caller's goroutine as on Threads, and is
// waited for.
//
// Go never gives a thread back that a call has blocked. The lane costs at most Workers +
// Left threads at a time.
type Abandoning struct {
	gated
	rules  AbandoningConfig
	late   atomic.Uint64 // panics in OnLate
	stuck  atomic.Uint64 // calls refused because of others that were left
	turned atomic.Uint64 // of these, in their turn: the gate has counted them as completed

	leftNow atomic.Int64 // len(left), for those who need not know more

	// mu guards what follows and the state of every carried call. Under it slots are
	// given back, the gate is barred (judge), and Task.Left is called.
	mu      sync.Mutex
	signal  *interrupt.Signal // nil: calls are not interrupted
	running carriedList       // by when they began; those told that they are overdue are out of it
	left    []*carried        // left and not ended, by when they were left
	kept    [2]int            // of these, calls that keep their slot: one for everybody, a reserved one
	slots   int               // as configured or resized
	barred  [2]bool           // all slots are kept: those for everybody, the reserved ones as well
	tails   int               // calls that have ended and are in their last steps
	total   uint64            // calls that were ever left
	watch   *time.Timer       // for the head of running
	armed   bool
	epoch   time.Time
	gone    signal.Crowd     // callers of Drain
	givenUp map[uint64]error // owners who have given up, and why
	cache   sync.Pool        // of *carried
}

// NewAbandoning makes an Abandoning lane. Its error is an *ioerr.ArgumentError that
// names the field, an *ioerr.ThreadLimitError, or an *ioerr.UnsupportedError for
// Interrupt.
func NewAbandoning(c AbandoningConfig) (*Abandoning, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	each, err := c.Config.complete(procs())
	if err != nil {
		return nil, err
	}
	c.Config = each
	l := &Abandoning{rules: c, slots: each.Workers, epoch: time.Now()}
	if l.share, err = each.claim(each.Workers + c.Left); err != nil {
		return nil, err
	}
	l.beside = c.Left
	if c.Interrupt {
		if l.signal, err = interrupt.Take(0); err != nil {
			l.share.Release()
			return nil, &ioerr.UnsupportedError{What: "lane.AbandoningConfig.Interrupt", Err: err}
		}
	}
	l.init(each, 0, 1, false)
	return l, nil
}

// Resize changes the number of slots; see [Threads.Resize].
func (l *Abandoning) Resize(n int) error {
	if err := l.resize(n); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, gate := range l.gates {
		l.slots = gate.Stats().Slots // not n: another Resize may have come after this one
	}
	l.judge()
	return nil
}

// Capabilities returns abandoning execution.
func (l *Abandoning) Capabilities() Capabilities { return Capabilities{Execution: Abandons} }

// Enter implements [Lane].
func (l *Abandoning) Enter(ctx context.Context, c Call) (Slot, error) {
	if err := l.refuse(&c); err != nil {
		return Slot{}, err
	}
	return l.gated.Enter(ctx, c)
}

// Carry implements [Carrier].
func (l *Abandoning) Carry(ctx context.Context, c Call, t Task) error {
	k, err := l.start(ctx, &c, t)
	if err != nil {
		return err
	}
	return k.Wait()
}

// Start implements [Starter].
func (l *Abandoning) Start(ctx context.Context, c Call, t Task) (Started, error) {
	k, err := l.start(ctx, &c, t)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// start admits a call and gets it going.
func (l *Abandoning) start(ctx context.Context, c *Call, t Task) (*carried, error) {
	if ctx == nil {
		return nil, noContext()
	}
	done := ctx.Done() // before anything is held: it is the caller's, and could panic
	slot, err := l.Enter(ctx, *c)
	if err != nil {
		return nil, err
	}
	if err := l.stuckOn(c); err != nil { // what it waited behind has been left meanwhile
		l.turned.Add(1)
		l.Leave(slot)
		return nil, err
	}
	k, _ := l.cache.Get().(*carried)
	if k == nil {
		k = newCarried()
	}
	k.lane, k.task, k.slot, k.owner = l, t, slot, c.Owner
	k.ctx, k.done = ctx, done
	k.info = LeftCall{Label: c.Label, Key: c.Key, Handle: c.Handle}
	if l.signal != nil {
		k.thread, k.entered = interrupt.NewCall(l.signal), make(chan struct{})
	}
	l.begin(k)
	go k.start() // see carried
	return k, nil
}
