package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/slab"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// BuffersConfig makes [Buffers].
type BuffersConfig struct {
	Count int // how many, 1 to 65,535
	Size  int // of each, in bytes, at least 1

	// Align is what the address of each buffer is a multiple of, in bytes: a power of two,
	// 4,096 to 2 MiB. Zero means 4,096, which is enough for direct I/O on most devices.
	Align int

	// Waiters is how many callers of Get may wait. Zero means 1,024; lane.NoWaiters none.
	Waiters int
}

// Backing is what kind of memory buffers are made of.
type Backing uint8

// The kinds.
const (
	HeapMemory      = Backing(slab.Heap)        // Go's heap: what there is outside of Linux
	PlainPages      = Backing(slab.Plain)       // pages of the usual size: no huge ones were to be had
	TransparentHuge = Backing(slab.Transparent) // huge pages, at least in part, that the kernel found when asked
	ReservedHuge    = Backing(slab.HugeTLB)     // huge pages of the system's reserve (vm.nr_hugepages)
)

// String returns the kind in lower case words.
func (b Backing) String() string {
	switch b {
	case HeapMemory:
		return "heap"
	case PlainPages:
		return "plain pages"
	case TransparentHuge:
		return "transparent huge pages"
	case ReservedHuge:
		return "reserved huge pages"
	}
	return fmt.Sprintf("Backing(%d)", uint8(b))
}

// ErrBuffersOut: not all buffers have been put back. A [BuffersError] carries it.
var ErrBuffersOut = errors.New("not all are back")

// BuffersError is the error of [Buffers.Get] and [Buffers.Close].
type BuffersError struct {
	Out, Count int // how many were out at that moment, and how many there are

	// Err is why: the error of the context and its cause, ioerr.ErrOverloaded (as many wait
	// as may), fs.ErrClosed, ErrBuffersOut, or the error of the system. Never nil.
	Err error
}

// Error gives the reason and the figures.
func (e *BuffersError) Error() string {
	return fmt.Sprintf("buffers, %d of %d out: %v", e.Out, e.Count, e.Err)
}

// Unwrap returns Err.
func (e *BuffersError) Unwrap() error { return e.Err }

// Buffers is a fixed number of buffers of one size for the transfers of a program: one
// piece of memory, outside of Go's heap on Linux, in huge pages if the kernel gives them.
// Each is aligned, as direct I/O wants it. All methods may be called from any goroutine.
//
// All of the memory is taken when Buffers is made, a multiple of 2 MiB where there are huge
// pages, and stays until Close: one that is forgotten is not collected. That is meant: nobody
// but its owner knows when the last transfer has ended that uses it.
//
// A buffer that is out is its holder's alone. There is no way to tell a holder from
// somebody who held the buffer before, so who has put a buffer back must forget it.
type Buffers struct {
	size, stride int
	backing      Backing
	huge         int
	gate         *lanegate.Gate // a slot of it is the right to one buffer

	mu     sync.Mutex // a gate's mutex may be taken under it
	memory *slab.Memory
	slab   *fileop.Slab // for lanes that register it
	free   []int        // places, the one used last at the end
	out    []uint32     // by place: 1 + the shard of the slot that it is held by; 0: it is free
	closed bool
}

// NewBuffers makes buffers. The error is an *ioerr.ArgumentError that names the field, or
// an *os.SyscallError if there is no memory.
func NewBuffers(c BuffersConfig) (*Buffers, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	stride := (c.Size + c.Align - 1) / c.Align * c.Align
	m, err := slab.Map(c.Count*stride, c.Align)
	if err != nil {
		return nil, err
	}
	b := &Buffers{
		size: c.Size, stride: stride, backing: Backing(m.Backing), huge: m.Huge,
		gate: lanegate.New(lanegate.Config{
			Slots: c.Count, Waiters: c.Waiters, Patience: lane.Strict, Tickets: new(lanegate.Tickets),
		}),
		memory: m, slab: fileop.NewSlab(m.Bytes, stride), out: make([]uint32, c.Count),
	}
	for place := range c.Count {
		b.free = append(b.free, c.Count-1-place)
	}
	return b, nil
}

func (c *BuffersConfig) complete() error {
	bad := func(field string, value any, reason string) error {
		return &ioerr.ArgumentError{Name: "file.BuffersConfig." + field, Value: value, Reason: reason}
	}
	if c.Align == 0 {
		c.Align = 4096
	}
	switch c.Waiters {
	case 0:
		c.Waiters = 1024
	case lane.NoWaiters:
		c.Waiters = 0
	}
	switch {
	case c.Count < 1 || c.Count > math.MaxUint16:
		return bad("Count", c.Count, "must be 1 to 65535")
	case c.Align < 4096 || c.Align > slab.HugePage || c.Align&(c.Align-1) != 0:
		return bad("Align", c.Align, "must be a power of two, 4096 to 2 MiB, or 0 for 4096")
	case c.Size < 1 || c.Size > math.MaxInt/2/c.Count-slab.HugePage:
		return bad("Size", c.Size, "must be at least 1, and all buffers must fit into memory")
	case c.Waiters < 0 || c.Waiters > math.MaxInt32:
		return bad("Waiters", c.Waiters, "must be 1 to 2^31-1, 0 for the default, or lane.NoWaiters")
	}
	return nil
}

// Size returns the size of each buffer, in bytes.
func (b *Buffers) Size() int { return b.size }

// Count returns how many buffers there are.
func (b *Buffers) Count() int { return len(b.out) }

// Backing returns what the memory is made of: huge pages are asked for and not always
// given. It is what was found in the memory when it was made, not what was promised; the
// kernel may form and divide transparent huge pages later.
func (b *Buffers) Backing() Backing { return b.backing }

// Huge returns how many bytes of the memory were found in huge pages when it was made.
// With TransparentHuge that may be a part of it.
func (b *Buffers) Huge() int { return b.huge }

// Out returns how many buffers are out.
func (b *Buffers) Out() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count()
}

// count is Out under mu.
func (b *Buffers) count() int { return len(b.out) - len(b.free) }

// Get takes a buffer. When all are out it waits, in order, until one is put back or ctx ends.
// So it must not be called on a fiber, which would block all others of its lane: get buffers
// before [Pool.Fiber], or use TryGet there. The buffer has the length Size and holds what its
// last user left in it. The error is a *BuffersError, or an *ioerr.ArgumentError if ctx is
// nil.
func (b *Buffers) Get(ctx context.Context) ([]byte, error) {
	if ctx == nil {
		return nil, &ioerr.ArgumentError{Name: "ctx", Reason: "must not be nil"}
	}
	if ctx.Err() != nil {
		return nil, b.fault(ended(ctx))
	}
	switch slot, verdict := b.gate.Acquire(ctx, &lanegate.Request{}); verdict {
	case lanegate.Granted:
		return b.take(slot), nil
	case lanegate.Ended:
		return nil, b.fault(ended(ctx))
	case lanegate.Closed:
		return nil, b.fault(fs.ErrClosed)
	case lanegate.Full, lanegate.Overloaded, lanegate.Busy, lanegate.Expired, lanegate.Hopeless:
	}
	return nil, b.fault(ioerr.ErrOverloaded)
}

// TryGet is Get for a caller that does not wait.
func (b *Buffers) TryGet() ([]byte, bool) {
	slot, v := b.gate.Acquire(context.Background(), &lanegate.Request{NoWait: true})
	if v != lanegate.Granted {
		return nil, false
	}
	return b.take(slot), true
}

// take takes a buffer for a slot of the gate: there are as many of one as of the other.
func (b *Buffers) take(slot lanegate.Slot) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.free) - 1
	place := b.free[last]
	b.free, b.out[place] = b.free[:last], 1+slot.Shard()
	from := place * b.stride
	return b.memory.Bytes[from : from+b.size : from+b.size]
}

// Put gives a buffer back, which must begin where it began when it was got; its length
// does not count. No transfer may use it any more. Put panics with an
// *ioerr.ArgumentError for what is not a buffer of b, and for one that is not out: it was
// put back before.
func (b *Buffers) Put(buf []byte) {
	slot, reason := b.putBack(buf)
	if reason != "" {
		panic(&ioerr.ArgumentError{Name: "buf", Value: fmt.Sprintf("%d bytes", len(buf)), Reason: reason})
	}
	slot.Release()
}

// putBack takes a buffer back and returns its slot, or what is wrong.
func (b *Buffers) putBack(buf []byte) (slot lanegate.Slot, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return slot, "was put back before, or is of others: these are closed"
	}
	off, ok := b.slab.Offset(buf)
	place := off / b.stride
	switch {
	case !ok:
		return slot, "is no buffer of these"
	case off%b.stride != 0:
		return slot, "does not begin where the buffer begins"
	case b.out[place] == 0:
		return slot, "is not out: it was put back before"
	}
	slot = b.gate.Slot(b.out[place] - 1)
	b.out[place], b.free = 0, append(b.free, place)
	return slot, ""
}

// Close gives the memory back if all buffers are back. In any case Get is refused from
// now on, and whoever waits in it is told so (fs.ErrClosed). If some are out the error is
// a *BuffersError with ErrBuffersOut, and Close is to be called again when they are back.
// Another Close after that does nothing.
func (b *Buffers) Close() error {
	b.gate.Shut()
	b.mu.Lock()
	defer b.mu.Unlock()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	switch {
	case b.closed:
		return nil
	case !b.gate.Drain(now): // also of a Get that is about to return
		return &BuffersError{Out: max(b.count(), 1), Count: len(b.out), Err: ErrBuffersOut}
	}
	b.closed = true
	b.slab.Retire()
	if err := b.memory.Free(); err != nil {
		return &BuffersError{Count: len(b.out), Err: err}
	}
	return nil
}

func (b *Buffers) fault(err error) error {
	return &BuffersError{Out: b.Out(), Count: len(b.out), Err: err}
}

// ended is the error of a context that has ended, and its cause if that says more.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
