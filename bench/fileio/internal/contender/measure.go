package contender

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/bench/fileio/internal/result"
	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// measure measures an engine at a case.
func (m maker) measure(ctx context.Context, j Job) ([]result.Sample, error) {
	if j.Case.Sequential {
		return m.sequential(ctx, j)
	}
	if !j.Case.NeedsFile() {
		s, err := m.phase(ctx, j, nil, false)
		return []result.Sample{s}, err
	}
	flags := os.O_RDONLY
	if j.Case.Kind == work.Write {
		flags = os.O_RDWR
	}
	s, err := m.open(ctx, j, flags, false)
	return []result.Sample{s}, err
}

// sequential writes a file, reads it back, and checks every word: in that pass, or in
// another one that is not timed.
func (m maker) sequential(ctx context.Context, j Job) (samples []result.Sample, err error) {
	remove, err := create(j.File, j.Case.Size)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for _, pass := range []struct {
		kind  work.Kind
		flags int
		check bool
		count bool
	}{
		{work.Write, os.O_RDWR, false, true},
		{work.Read, os.O_RDONLY, j.Timed, true},
		{work.Read, os.O_RDONLY, true, false},
	} {
		if !pass.count && j.Timed {
			break // has been checked
		}
		j.Case.Kind = pass.kind
		s, err := m.open(ctx, j, pass.flags, pass.check)
		if err != nil {
			return nil, err
		}
		if pass.count {
			s.Case += "/" + string(pass.kind)
			samples = append(samples, s)
		}
	}
	return samples, nil
}

// create makes a file whose blocks are reserved. A device is there already.
func create(name string, size int64) (remove func() error, err error) {
	if info, err := os.Stat(name); err == nil && info.Mode()&os.ModeDevice != 0 {
		return func() error { return nil }, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(system.Allocate(f, size), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return func() error { return os.Remove(name) }, nil
}

// open measures with the file open as the case wants it.
func (m maker) open(ctx context.Context, j Job, flags int, check bool) (s result.Sample, err error) {
	if j.Case.Cache == work.Direct {
		flags |= system.Direct
	}
	f, err := os.OpenFile(j.File, flags, 0)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if j.Case.Cache != work.Direct {
		if err := system.NoReadAhead(f); err != nil {
			return s, err
		}
	}
	return m.phase(ctx, j, f, check)
}

// phase measures one engine once.
func (m maker) phase(ctx context.Context, j Job, f *os.File, check bool) (s result.Sample, err error) {
	e, err := m.make(setup{Case: j.Case, File: f, Huge: j.Huge})
	if err != nil {
		return s, err
	}
	slots := j.Case.Callers
	if m.slots != nil {
		slots = m.slots(j.Case)
	}
	bufs, err := e.Buffers(slots, j.Case.Block)
	if err != nil {
		return s, errors.Join(err, e.Close())
	}
	src := work.NewSource(j.Case, slots, fileOf(f, j.Case), bufs, check)
	s = m.run(ctx, e, src)
	err = errors.Join(src.Err(), e.Close())
	if err == nil {
		err = bufs.Free() // else they stay: who failed may still have operations on them
	}
	if err == nil && s.Ops == 0 {
		err = errors.New("nothing was done")
	}
	return s, err
}

// run is the time that counts.
func (m maker) run(ctx context.Context, e engine, src *work.Source) result.Sample {
	c := src.Case()
	if c.Burners {
		defer burn()()
	}
	defer context.AfterFunc(ctx, func() { src.Fail(ctx.Err()) })()
	err := e.Run(ctx, src)
	elapsed, processors := src.Spent()
	s := result.Sample{
		Case: c.Name, Contender: m.name, Elapsed: elapsed, CPU: processors,
		Threads: system.Status("self", "Threads"), RSS: system.Status("self", "VmHWM") << 10,
	}
	if err != nil {
		src.Fail(fmt.Errorf("%s: %w", m.name, err))
	}
	ops, times := src.Total()
	s.Ops, s.Bytes = ops, ops*int64(c.Block)
	if !m.untimed {
		s.P50, s.P99 = times.Quantile(0.5), times.Quantile(0.99)
	}
	return s
}

// burn keeps all processors busy until it is told to stop.
func burn() (stop func()) {
	var over atomic.Bool
	var burners sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		burners.Go(func() {
			for x := uint64(1); !over.Load(); {
				for range 1000 {
					x = x*6364136223846793005 + 1
				}
			}
		})
	}
	return func() { over.Store(true); burners.Wait() }
}
