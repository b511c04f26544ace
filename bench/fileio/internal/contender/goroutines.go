package contender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/bench/fileio/internal/work"
	"github.com/iolane/iolane/internal/fileop"
)

// callers is an engine of as many goroutines as the source has slots. Each does its own
// operations, one after another.
type callers struct {
	mapped
	n int
	// bind makes what does an operation, which is always the same variable: so nothing
	// need be allocated for each.
	bind  func(op *fileop.Op) func(ctx context.Context)
	close func() error // may be nil
}

// Run implements engine.
func (e *callers) Run(ctx context.Context, src *work.Source) error {
	src.Start()
	defer src.End()
	var all sync.WaitGroup
	for i := range e.n {
		all.Go(func() {
			op := new(fileop.Op)
			do := e.bind(op)
			for src.Next(i, op) {
				do(ctx)
				src.Done(i, op)
			}
		})
	}
	all.Wait()
	return nil
}

// Close implements engine.
func (e *callers) Close() error {
	if e.close == nil {
		return nil
	}
	return e.close()
}

// fileOf is the file as engines see it.
func fileOf(f *os.File, c work.Case) *fileop.File {
	if f == nil {
		return nil
	}
	return &fileop.File{Name: f.Name(), FD: f.Fd(), Seeks: true, Direct: c.Cache == work.Direct}
}

// block does the operation by system calls that block.
func block(op *fileop.Op) {
	var call func(fd uintptr, buf []byte, off int64) (int, error)
	switch {
	case op.Kind == fileop.Nop:
		return
	case op.Kind == fileop.Read:
		call = system.Pread
	case op.Kind == fileop.Write:
		call = system.Pwrite
	default:
		op.Err = fmt.Errorf("kind %d: %w", op.Kind, errors.ErrUnsupported)
		return
	}
	for op.N < int64(len(op.Buf)) {
		n, err := call(op.File.FD, op.Buf[op.N:], op.Off+op.N)
		switch {
		case err != nil:
			op.Err = err
			return
		case n == 0:
			return // the end of the file
		}
		op.N += int64(n)
	}
}

func preadMaker() maker {
	return maker{
		name: "pread", about: "goroutines in pread(2) and pwrite(2), at most as many at a time as the depth", unfit: transfersOnly,
		make: func(s setup) (engine, error) {
			if s.Callers <= s.Depth {
				return preads(s), nil
			}
			places := make(chan struct{}, s.Depth)
			e := preads(s)
			e.bind = func(op *fileop.Op) func(context.Context) {
				return func(context.Context) {
					places <- struct{}{}
					block(op)
					<-places
				}
			}
			return e, nil
		},
	}
}

func preads(s setup) *callers {
	return &callers{mapped: mapped{s.Huge}, n: s.Callers, bind: func(op *fileop.Op) func(context.Context) {
		return func(context.Context) { block(op) }
	}}
}

func preadFreeMaker() maker {
	return maker{
		name: "pread-free", about: "the same without a limit, where there are more goroutines than the depth",
		unfit: func(c work.Case) string {
			if c.Callers <= c.Depth {
				return "is pread there"
			}
			return transfersOnly(c)
		},
		make: func(s setup) (engine, error) { return preads(s), nil },
	}
}

func osMaker() maker {
	return maker{
		name: "os", about: "goroutines in os.File.ReadAt and WriteAt, without a limit, and in time.Sleep",
		unfit: func(c work.Case) string {
			if c.Kind == work.Sleep {
				return ""
			}
			return transfersOnly(c)
		},
		make: func(s setup) (engine, error) {
			return &callers{mapped: mapped{s.Huge}, n: s.Callers, bind: func(op *fileop.Op) func(context.Context) {
				return func(context.Context) { byOS(s.File, op) }
			}}, nil
		},
	}
}

// byOS does the operation as most programs do.
func byOS(f *os.File, op *fileop.Op) {
	var n int
	switch {
	case op.Kind == fileop.Read:
		n, op.Err = f.ReadAt(op.Buf, op.Off)
	case op.Kind == fileop.Write:
		n, op.Err = f.WriteAt(op.Buf, op.Off)
	case op.Kind == fileop.Sleep:
		time.Sleep(op.Sleeping())
	default:
		op.Err = errors.ErrUnsupported
	}
	op.N = int64(n)
	if op.Err == io.EOF { //nolint:errorlint // package os returns it bare
		op.Err = nil
	}
}

// timers is an engine of callbacks, without a goroutine for each.
type timers struct{ mapped }

func afterFuncMaker() maker {
	return maker{
		name: "afterfunc", about: "time.AfterFunc: no goroutine for each sleeper",
		unfit: func(c work.Case) string {
			if c.Kind != work.Sleep {
				return "sleeps only"
			}
			return ""
		},
		make: func(s setup) (engine, error) { return timers{}, nil },
	}
}

// Run implements engine.
func (timers) Run(_ context.Context, src *work.Source) error {
	src.Start()
	defer src.End()
	var all sync.WaitGroup
	var op fileop.Op
	for src.Next(0, &op) {
		all.Add(1)
		time.AfterFunc(op.Sleeping(), all.Done)
	}
	all.Wait()
	return nil
}

// Close implements engine.
func (timers) Close() error { return nil }
