package ringdriver

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// world is one file, of which each worker has a part of its own, and pipes, one for each
// worker. What the model says must be there is there.
type world struct {
	t    *testing.T
	d    *Driver
	file *fileop.File
}

// worker is a random program and the model of what it sees.
type worker struct {
	*world
	random  *rand.Rand
	base    int64
	part    []byte // of the file, as it must be
	pipe    *pipe
	end     *fileop.File // to write to the pipe
	inPipe  []byte
	ops     []fileop.Op
	expect  []func(op *fileop.Op)
	pipeOps bool // the batch reads or writes the pipe already: more than one would have no order
}

const partSize = 4096

// add adds a random operation to the batch, and what is expected of it. Writes change the
// model at once; no two operations of a batch touch the same bytes.
func (w *worker) add(slot, slots int) {
	t, size := w.t, partSize/slots
	lo := slot*size + w.random.IntN(size/2)
	n := 1 + w.random.IntN(size/2-1)
	op := fileop.Op{File: w.file, Off: w.base + int64(lo), Full: true}
	bufs := func(b []byte) {
		if op.Buf = b; w.random.IntN(3) == 0 && n > 2 {
			op.More = &fileop.More{Bufs: [][]byte{b[:n/3], b[n/3 : n/2], b[n/2:]}}
		}
	}
	expect := func(op *fileop.Op) { want(t, op, int64(n), nil) }
	switch k := w.random.IntN(6); {
	case k == 0:
		op = fileop.Op{Kind: fileop.Sleep, Off: w.random.Int64N(100_000)}
		expect = func(op *fileop.Op) { want(t, op, 0, nil) }
	case k == 1 && !w.pipeOps && len(w.inPipe) < 30_000: // else the pipe may be full
		w.pipeOps = true
		op = fileop.Op{Kind: fileop.Write, File: w.end, Off: fileop.AtPosition, Full: true}
		bufs(noise(w.random, n))
		w.inPipe = append(w.inPipe, op.Buf...)
	case k == 2 && !w.pipeOps && len(w.inPipe) > 0:
		w.pipeOps = true
		n = min(n, len(w.inPipe))
		op = fileop.Op{Kind: fileop.Read, File: w.pipe.file, Off: fileop.AtPosition, Full: true}
		bufs(make([]byte, n))
		must := slices.Clone(w.inPipe[:n])
		w.inPipe = w.inPipe[n:]
		expect = func(op *fileop.Op) {
			want(t, op, int64(n), nil)
			if !bytes.Equal(op.Buf, must) {
				t.Error("a pipe has other data")
			}
		}
	case k <= 3:
		op.Kind = fileop.Write
		bufs(noise(w.random, n))
		copy(w.part[lo:], op.Buf)
	default:
		op.Kind = fileop.Read
		bufs(make([]byte, n))
		must := slices.Clone(w.part[lo : lo+n])
		expect = func(op *fileop.Op) {
			want(t, op, int64(n), nil)
			if !bytes.Equal(op.Buf, must) {
				t.Error("the file has other data")
			}
		}
	}
	w.ops, w.expect = append(w.ops, op), append(w.expect, expect)
}

func noise(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// step does one batch, or one operation, and compares. Now and then it does so with a
// context that ends: then only that which has no effect is asked for.
func (w *worker) step(ctx context.Context, f *Fiber) {
	w.ops, w.expect, w.pipeOps = nil, nil, false
	n := 1
	if w.random.IntN(3) == 0 {
		n = 2 + w.random.IntN(10)
	}
	for i := range n {
		w.add(i, n)
	}
	switch {
	case f != nil && n == 1:
		f.Do(ctx, &w.ops[0])
	case f != nil:
		f.DoAll(ctx, w.ops, nil, 1+w.random.IntN(n), drops(func() {}))
	case n == 1:
		w.d.Do(ctx, &w.ops[0])
	default:
		w.d.DoAll(ctx, w.ops, nil, 1+w.random.IntN(n), drops(func() {}))
	}
	for i := range w.ops {
		w.expect[i](&w.ops[i])
	}
	if w.random.IntN(4) == 0 {
		w.lost(ctx, f)
	}
}

// lost reads from the pipe, which is empty or not, and calls that off.
func (w *worker) lost(ctx context.Context, f *Fiber) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(w.random.IntN(100))*time.Microsecond)
	defer cancel()
	op := w.pipe.read(5)
	if f != nil {
		f.Do(ctx, op)
	} else {
		w.d.Do(ctx, op)
	}
	n := int(op.N)
	if op.Err != nil {
		want(w.t, op, 0, fileop.ErrCancelled)
	} else if n == 0 || n > len(w.inPipe) || !bytes.Equal(op.Buf[:n], w.inPipe[:n]) {
		w.t.Error("a pipe has other data")
	}
	w.inPipe = w.inPipe[n:]
}

// Law: whatever goroutines, fibers and batches do to a file and pipes, with threads lost and short
// transfers, it is what a naive model says.
func TestAgainstANaiveModel(t *testing.T) {
	const workers = 12
	for seed := range uint64(rounds(4, 100)) {
		tampering := rand.New(rand.NewPCG(seed, 99))
		d := newDriver(t, Config{Slots: 1 + int(seed*5)%16, Tamper: func(op *fileop.Op, res int32) int32 {
			// What a pipe has given or taken cannot be undone; and it is read again only if lost before.
			if op.File == nil || !op.File.Seeks {
				return res
			}
			switch tampering.IntN(10) {
			case 0:
				return -[]int32{errCANCELED, errINTR, errFAULT}[tampering.IntN(3)]
			case 1:
				return min(res, 1+tampering.Int32N(100))
			}
			return res
		}})
		w := &world{t, d, file(t, make([]byte, workers*partSize))}
		var all sync.WaitGroup
		models := make([][]byte, workers)
		for i := range workers {
			p := newPipe(t)
			one := &worker{
				world: w, random: rand.New(rand.NewPCG(seed, uint64(i))), base: int64(i * partSize),
				part: make([]byte, partSize), pipe: p, end: &fileop.File{FD: uintptr(p.w)},
			}
			models[i] = one.part
			steps := rounds(60, 300)
			all.Go(func() {
				if i%2 == 0 {
					for range steps {
						one.step(bg, nil)
					}
				} else {
					d.Run(bg, nil, func(ctx context.Context) {
						for range steps {
							if one.random.IntN(50) == 0 {
								takenOver(ctx)
							}
							one.step(ctx, On(ctx))
						}
					})
				}
				require.Equal(t, string(one.inPipe), p.left())
			})
		}
		all.Wait()
		got := &fileop.Op{Kind: fileop.Read, File: w.file, Buf: make([]byte, workers*partSize), Full: true}
		d.Do(bg, got)
		require.Equal(t, slices.Concat(models...), got.Buf, "seed %d", seed)
	}
}
