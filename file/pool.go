package file

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Config makes a [Pool]. The zero Config is ready to use.
type Config struct {
	// Lane, OwnsLane and Threads are as in pool.Config: nil means a lane.Threads of the
	// pool's own, made from Threads.
	Lane     lane.Lane
	OwnsLane bool
	Threads  lane.Config

	// Buffers are registered with a lane that can (lane.Ring), until the pool is closed: then
	// the kernel need not look up the pages of a transfer from or to one of them. All else
	// works without, and so does a lane that cannot, has others registered already, or may not
	// lock so much memory (RLIMIT_MEMLOCK); Stats.Ring.Registered of the lane tells. Nil means none. They
	// may be closed before the pool, but the memory is free only after both.
	Buffers *Buffers

	// Share is how many operations may use one file at a time, beside what the lane allows.
	// Zero means 65,535, the most.
	Share int

	// Interrupt ends system calls that are blocked when their context ends, or when Shutdown
	// gives up on them, by a signal (number 40) that the pool uses for as long as it is open.
	// It costs each operation an allocation and the locking of its goroutine to a thread. Sync
	// and Datasync are not interrupted: an error of the disk might get lost. It works on Linux
	// for amd64, arm64 and 386; elsewhere NewPool returns an *ioerr.UnsupportedError. It ends
	// no call that the kernel does not let a signal end.
	Interrupt bool

	// Waiters and Patience are for callers that wait for a share of a file, Watch and OnEvent
	// for events, HookWithin for how long closing a file may take; as in pool.Config.
	Waiters    int
	Patience   time.Duration
	Watch      pool.Watch
	OnEvent    func(pool.Event)
	HookWithin time.Duration
}

// Pool owns open files and has operations done. Use [NewPool]; the zero Pool refuses
// everything. All methods may be called from any goroutine. A Pool must be closed with
// Shutdown or Close.
type Pool struct {
	files   *pool.Pool[*fileop.File]
	lane    string            // its name
	signal  *interrupt.Signal // nil: system calls are not interrupted
	carries bool              // the lane runs calls itself, and their callers may leave them
	held    held              // files that are open for longer than their handle
	adopted sync.Map          // from *fileop.File to the *os.File whose descriptor it has
	forget  func()            // ends the registration of Config.Buffers; may be nil
	ops     sync.Pool         // of *Op, for the methods that make one
}

// NewPool makes a pool. Its error is an *ioerr.Error with an *ioerr.ArgumentError that
// names the field, an *ioerr.ThreadLimitError, or an
// *ioerr.UnsupportedError for Interrupt.
func NewPool(c Config) (*Pool, error) {
	if c.Share == 0 {
		c.Share = 1<<16 - 1
	}
	if c.Buffers != nil && c.Buffers.slab == nil {
		return nil, bad("file.Config.Buffers", "Buffers", "was not made by NewBuffers")
	}
	p := new(Pool)
	p.held.close = p.close
	if c.Interrupt {
		var err error
		if p.signal, err = interrupt.Take(0); err != nil {
			return nil, &ioerr.Error{
				Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None,
				Err: &ioerr.UnsupportedError{What: "file.Config.Interrupt", Err: err},
			}
		}
	}
	files, err := pool.New(pool.Config[*fileop.File]{
		Lane: c.Lane, OwnsLane: c.OwnsLane, Threads: c.Threads, Share: c.Share,
		Waiters: c.Waiters, Patience: c.Patience, Watch: c.Watch, OnEvent: c.OnEvent,
		HookWithin: c.HookWithin, Dispose: p.held.dispose,
	})
	if err != nil {
		p.release()
		return nil, ours(err)
	}
	p.files, p.lane = files, c.Threads.Name
	if c.Lane != nil {
		p.lane = c.Lane.Name()
		_, operates := c.Lane.(lane.Operator)
		_, carries := c.Lane.(lane.Carrier)
		p.carries = carries && !operates
	}
	if r, ok := c.Lane.(registrar); ok && c.Buffers != nil && r.RegisterBuffers(c.Buffers.slab) == nil {
		p.forget = sync.OnceFunc(func() { r.UnregisterBuffers(c.Buffers.slab) })
	}
	return p, nil
}

// ours is an error of pool.New about a field, as one about the field of Config that it was got from.
func ours(err error) error {
	e, ok := errors.AsType[*ioerr.Error](err)
	if !ok {
		return err
	}
	a, ok := errors.AsType[*ioerr.ArgumentError](e.Err)
	if !ok {
		return err
	}
	told, argument := *e, *a
	argument.Name = strings.Replace(a.Name, "pool.Config.", "file.Config.", 1)
	told.Err = &argument
	return &told
}

// registrar is a lane that makes transfers of registered memory cheaper.
type registrar interface {
	RegisterBuffers(s *fileop.Slab) error
	UnregisterBuffers(s *fileop.Slab)
}

// Pool returns the pool of the files, for Stats, Dump, Health, Detach, and calls of
// other kinds on the same lane. Shutdown and Close are for this Pool to do.
func (p *Pool) Pool() *pool.Pool[*fileop.File] {
	if p == nil {
		return nil
	}
	return p.files
}

// Shutdown refuses newcomers, lets accepted operations come to their end, closes all
// files, and returns when everything has ended; see pool.Pool.Shutdown for what it
// returns when ctx ends before.
func (p *Pool) Shutdown(ctx context.Context) error {
	err := p.Pool().Shutdown(ctx)
	if e, ok := errors.AsType[*ioerr.Error](err); err == nil || ok && e.Effect == ioerr.Done { // the end, if not a good one
		p.release()
	}
	return err
}

// Close is Shutdown without a bound in time.
func (p *Pool) Close() error { return p.Shutdown(context.Background()) }

// release gives back what the pool has from others, when nobody uses it any more.
func (p *Pool) release() {
	if p.forget != nil {
		p.forget()
	}
	if p.signal != nil {
		p.signal.Release()
	}
}
