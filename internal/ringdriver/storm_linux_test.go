package ringdriver

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// Law: of operations that are called off at random moments each has one outcome, and all bytes,
// buffers and descriptors are accounted for.
func TestOperationsThatAreCalledOffAtAnyMomentAreAccountedFor(t *testing.T) {
	before := descriptors(t)
	t.Run("storm", func(t *testing.T) {
		d := newDriver(t, Config{Slots: 16})
		s := &storm{t: t, d: d, p: newPipe(t), content: pattern(1 << 16)}
		s.file = file(t, s.content)
		stop := make(chan struct{})
		var feeding sync.WaitGroup
		feeding.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.p.write("abc")
					s.written.Add(3)
					runtime.Gosched()
				}
			}
		})
		const n = 20
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { s.run(i, 10000/n) })
		}
		all.Wait()
		close(stop)
		// Whoever writes may be waiting for room: what is read here is accounted for, too.
		fed := make(chan struct{})
		go func() { feeding.Wait(); close(fed) }()
		for done := false; !done; {
			select {
			case <-fed:
				done = true
			default:
				op := s.p.read(4096)
				ctx, cancel := context.WithTimeout(bg, time.Millisecond)
				d.Do(ctx, op)
				cancel()
				s.got.Add(op.N)
			}
		}
		s.got.Add(int64(len(s.p.left())))
		require.Equal(t, s.written.Load(), s.got.Load(), "bytes of the pipe")
		require.EqualValues(t, 10000, s.outcomes.Load())
		until(t, d, func() bool { return d.inFlight == 0 && d.pending.first == nil && len(d.calledOff) == 0 })
	})
	require.Equal(t, before, descriptors(t))
}

type storm struct {
	t        *testing.T
	d        *Driver
	p        *pipe
	file     *fileop.File
	content  []byte
	written  atomic.Int64
	got      atomic.Int64
	outcomes atomic.Int64
}

// run does n operations, on a goroutine or as a fiber.
func (s *storm) run(i, n int) {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	if i%2 == 0 {
		for range n {
			s.one(bg, random, s.d.Do)
		}
		return
	}
	s.d.Run(bg, nil, func(ctx context.Context) {
		for range n {
			s.one(ctx, random, On(ctx).Do)
		}
	})
}

func (s *storm) one(ctx context.Context, random *rand.Rand, do func(context.Context, *fileop.Op)) {
	var op *fileop.Op
	off := random.Int64N(int64(len(s.content)) - 512)
	switch random.IntN(3) {
	case 0:
		op = s.p.read(1 + random.IntN(8))
	case 1:
		op = &fileop.Op{Kind: fileop.Read, File: s.file, Buf: make([]byte, 512), Off: off, Full: true}
	default:
		op = sleep(time.Duration(random.IntN(200)) * time.Microsecond)
	}
	var cancel context.CancelFunc
	switch random.IntN(4) {
	case 0:
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	case 1:
		ctx, cancel = context.WithCancel(ctx)
		go cancel()
	default:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(300))*time.Microsecond)
	}
	began := time.Now()
	do(ctx, op)
	took := time.Since(began)
	cancel()
	n, buf := op.N, slices.Clone(op.Buf)
	called := errors.Is(op.Err, fileop.ErrCancelled)
	switch {
	case op.Err != nil && !called, called && ctx.Err() == nil:
		s.t.Errorf("%v: %v", op.Kind, op.Err)
	case op.Kind == fileop.Sleep && !called && took < op.Sleeping():
		s.t.Error("a sleep that was too short")
	case op.File == s.file && !called && (n != 512 || !slices.Equal(buf, s.content[off:off+512])):
		s.t.Error("a file that is read wrongly")
	case op.File == s.p.file:
		if called && n != 0 || !called && n == 0 {
			s.t.Error("a pipe:", n, op.Err)
		}
		s.got.Add(n)
	}
	if random.IntN(16) == 0 {
		runtime.Gosched()
		if !slices.Equal(buf, op.Buf) {
			s.t.Error("a buffer is touched after the end")
		}
	}
	s.outcomes.Add(1)
}

// Law: opening the other end of a FIFO, or closing it, ends what waits, with or without a
// cancellation at the same moment: the end of the file is no cancellation.
func TestTheEndOfAPipeAgainstACancellation(t *testing.T) {
	d := newDriver(t, Config{Slots: 8})
	for range rounds(200, 5000) {
		p := newPipe(t)
		ctx, cancel := context.WithCancel(bg)
		op := p.read(4)
		var all sync.WaitGroup
		all.Go(func() { d.Do(ctx, op) })
		all.Go(cancel)
		all.Go(func() {
			if err := syscall.Close(p.w); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		p.w = -1
		if op.N != 0 || op.Err != nil && !errors.Is(op.Err, fileop.ErrCancelled) {
			t.Error(op.N, op.Err)
		}
		p.close()
	}
}
