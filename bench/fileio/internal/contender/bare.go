package contender

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"github.com/iolane/iolane/bench/fileio/internal/work"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/uring"
)

// chunk is how many operations are handed over at a time: the device begins while the
// rest is prepared.
const chunk = 8

func bareMaker() maker {
	return maker{
		name: "ring-bare", about: "one goroutine, locked to its thread, that drives package uring in batches: what a ring can do",
		unfit: anyCase,
		missing: func() error {
			r, err := uring.New(uring.Config{Slots: 1})
			if err != nil {
				return err
			}
			return r.Close(-1, nil)
		},
		make: func(s setup) (engine, error) { return &bare{mapped: mapped{s.Huge}, n: s.Callers}, nil },
	}
}

// bare is an engine that is nothing but a ring.
type bare struct {
	mapped
	n int

	ring       *uring.Ring
	src        *work.Source
	ops        []fileop.Op
	idle       []int32 // slots of the source that have nothing to do
	owner      []int32 // of each slot of the ring: the one of the source
	registered bool    // the buffers
	file       uring.FD
}

// Run implements engine.
func (e *bare) Run(_ context.Context, src *work.Source) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ring, err := uring.New(uring.Config{Slots: e.n, Thread: true})
	if err != nil {
		return err
	}
	e.ring, e.src = ring, src
	e.ops, e.owner = make([]fileop.Op, e.n), make([]int32, ring.Info().Slots)
	for i := range e.n {
		e.idle = append(e.idle, int32(e.n-1-i))
	}
	e.register()
	src.Start()
	err = e.drive()
	src.End()
	return errors.Join(err, ring.Close(-1, nil))
}

// register registers file and buffers, as far as the kernel lets us.
func (e *bare) register() {
	f, bufs := e.src.File(), e.src.Buffers()
	if f == nil {
		return
	}
	e.file = uring.FD(f.FD)
	if e.ring.RegisterFiles([]int32{int32(f.FD)}) == nil {
		e.file = uring.Registered(0)
	}
	e.registered = e.ring.RegisterBuffers([][]byte{bufs.Whole}) == nil
}

func (e *bare) drive() error {
	for {
		e.fill()
		if e.ring.Busy() == 0 {
			return e.ring.Err()
		}
		if err := e.ring.Enter(uring.All, 1, -1); err != nil {
			return err
		}
		e.ring.Reap(e.done)
	}
}

// fill gives all idle slots something to do.
func (e *bare) fill() {
	for filled := 1; len(e.idle) > 0; filled++ {
		s, ok := e.ring.Take()
		if !ok {
			if e.ring.Filled() == 0 || e.ring.Submit() != nil {
				return
			}
			continue
		}
		i := e.idle[len(e.idle)-1]
		e.idle = e.idle[:len(e.idle)-1]
		if !e.src.Next(int(i), &e.ops[i]) {
			e.ring.Drop(s)
			continue // for ever: this slot is over
		}
		e.owner[s.Index()] = i
		e.describe(s, &e.ops[i])
		if filled%chunk == 0 && e.src.File() != nil && e.ring.Submit() != nil {
			return
		}
	}
}

func (e *bare) describe(s uring.Slot, op *fileop.Op) {
	r := e.ring
	switch {
	case op.Kind == fileop.Read && e.registered:
		r.ReadFixed(s, e.file, op.Buf, op.Off, 0)
	case op.Kind == fileop.Read:
		r.Read(s, e.file, op.Buf, op.Off)
	case op.Kind == fileop.Write && e.registered:
		r.WriteFixed(s, e.file, op.Buf, op.Off, 0)
	case op.Kind == fileop.Write:
		r.Write(s, e.file, op.Buf, op.Off)
	case op.Kind == fileop.Sleep:
		r.Timeout(s, op.Sleeping())
	default:
		r.Nop(s)
	}
}

func (e *bare) done(c uring.Completion) {
	i := e.owner[c.Slot.Index()]
	op := &e.ops[i]
	op.N = int64(c.Res)
	if c.Res < 0 && op.Kind != fileop.Sleep {
		op.N, op.Err = 0, fmt.Errorf("ring: %w", syscall.Errno(-c.Res))
	}
	e.src.Done(int(i), op)
	e.idle = append(e.idle, i)
}

// Close implements engine: the ring is closed where it was made.
func (e *bare) Close() error { return nil }
