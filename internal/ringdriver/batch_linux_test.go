package ringdriver

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// runners are the ways to have a batch done.
func runners(d *Driver) map[string]func(ops []fileop.Op, which []int32, depth int, give func()) {
	return map[string]func([]fileop.Op, []int32, int, func()){
		"goroutine": func(ops []fileop.Op, which []int32, depth int, give func()) {
			d.DoAll(bg, ops, which, depth, drops(give))
		},
		"fiber": func(ops []fileop.Op, which []int32, depth int, give func()) {
			d.Run(bg, nil, func(ctx context.Context) { On(ctx).DoAll(ctx, ops, which, depth, drops(give)) })
		},
		"fiber that has lost the ring": func(ops []fileop.Op, which []int32, depth int, give func()) {
			d.Run(bg, nil, func(ctx context.Context) {
				takenOver(ctx)
				On(ctx).DoAll(ctx, ops, which, depth, drops(give))
			})
		},
	}
}

// Law: of a batch never more are in flight than its depth, less what was given back, and
// depth - 1 places are given back, or one for each operation but the last.
func TestABatchKeepsToItsDepth(t *testing.T) {
	for name := range runners(nil) {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct{ slots, n, depth int }{
				{64, 1, 1}, {64, 1, 5}, {64, 2, 2}, {64, 30, 1}, {64, 30, 7}, {64, 30, 30}, {64, 30, 50},
				{4, 30, 2}, {4, 30, 4}, {4, 30, 20}, {1, 10, 3}, {8, 1000, 8},
			} {
				d := newDriver(t, Config{Slots: c.slots})
				var given, most int
				ops := make([]fileop.Op, c.n)
				asOwner(t, d, func() {
					d.tamper = func(op *fileop.Op, res int32) int32 {
						if op.Flags == 0 { // looks: all that is in flight is of the batch
							most = max(most, d.inFlight+1)
							if d.inFlight+1 > c.depth-given {
								t.Errorf("%+v: %d in flight, %d given back", c, d.inFlight+1, given)
							}
						}
						return res
					}
				})
				runners(d)[name](ops, nil, c.depth, func() { given++ })
				require.Equal(t, min(c.depth, c.n)-1, given, "%+v", c)
				require.LessOrEqual(t, most, min(c.slots, c.depth))
				require.EqualValues(t, c.n, d.Stats().Operations)
			}
		})
	}
}

// Law: of a batch those that are named are done, once each, and no others.
func TestOfABatchThoseThatAreNamedAreDone(t *testing.T) {
	content := pattern(1 << 16)
	for name := range runners(nil) {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, Config{Slots: 4})
			f := file(t, content)
			for _, which := range [][]int32{{0}, {9}, {3, 1, 7}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, nil} {
				ops := make([]fileop.Op, 10)
				for i := range ops {
					ops[i] = fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 64), Off: int64(i) * 1000}
				}
				before := d.Stats().Operations
				runners(d)[name](ops, which, 3, nil)
				done := uint64(0)
				for i := range ops {
					if which != nil && !slices.Contains(which, int32(i)) {
						want(t, &ops[i], 0, nil)
						continue
					}
					done++
					want(t, &ops[i], 64, nil)
					require.Equal(t, content[i*1000:i*1000+64], ops[i].Buf)
				}
				require.Equal(t, done, d.Stats().Operations-before)
			}
		})
	}
}

// Law: of a batch each operation has its own end: a failure is its own alone.
func TestInABatchAFailureIsOnesOwn(t *testing.T) {
	d := newDriver(t, Config{Slots: 4, Tamper: func(op *fileop.Op, res int32) int32 {
		if op.Flags != 0 {
			return -op.Flags
		}
		return res
	}})
	ops := make([]fileop.Op, 20)
	for i := range ops {
		ops[i].Flags = map[bool]int32{true: 5}[i%3 == 0]
	}
	given := 0
	d.DoAll(bg, ops, nil, 4, drops(func() { given++ }))
	for i := range ops {
		want(t, &ops[i], 0, map[bool]error{true: errIO}[i%3 == 0])
	}
	require.Equal(t, 3, given)
}

// Law: however few slots there are, batches and single operations all get on.
func TestBatchesAndSingleOperationsShareFewSlots(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	content := pattern(1 << 16)
	f := file(t, content)
	var done atomic.Int64
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			ops := make([]fileop.Op, 100)
			for j := range ops {
				ops[j] = fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 16), Off: int64(i*100+j) * 16}
			}
			runners(d)[[]string{"goroutine", "fiber"}[i%2]](ops, nil, 1+i*2, func() {})
			for j := range ops {
				want(t, &ops[j], 16, nil)
				if at := (i*100 + j) * 16; !slices.Equal(ops[j].Buf, content[at:at+16]) {
					t.Error("foreign data")
				}
			}
			done.Add(100)
		})
		all.Go(func() {
			for range 100 {
				op := sleep(1)
				d.Do(bg, op)
				want(t, op, 0, nil)
				done.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 12*200, done.Load())
}

// Law: a thousand goroutines on four slots: each is served, in the order in which they came.
func TestRequestsAreServedInTheOrderOfTheirArrival(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	gates := make([]gate, 4)
	var holding sync.WaitGroup
	for i := range gates {
		gates[i] = newGate(t)
		holding.Go(func() { d.Do(bg, gates[i].op) })
	}
	flying(t, d, 4)
	var order []int32
	asOwner(t, d, func() {
		d.tamper = func(op *fileop.Op, res int32) int32 {
			if op.Kind == fileop.Nop {
				order = append(order, op.Flags)
			}
			return res
		}
	})
	const n = 1000
	requests := make([]*request, n)
	for i := range requests {
		requests[i] = newRequest()
		requests[i].use(sliceOf(&fileop.Op{Flags: int32(i)}), nil, 1, nil)
		d.send(&requests[i].begin)
	}
	for _, g := range gates {
		g.open()
	}
	for _, r := range requests {
		d.await(r)
	}
	holding.Wait()
	require.Len(t, order, n)
	require.True(t, slices.IsSorted(order), "order")
}

// Law: a batch that waits for its own does not hold up those behind it.
func TestABatchAtItsDepthHoldsNobodyUp(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	p := newPipe(t)
	ops := make([]fileop.Op, 10)
	for i := range ops {
		ops[i] = *p.read(1)
	}
	var all sync.WaitGroup
	all.Go(func() { d.DoAll(bg, ops, nil, 2, drops(func() {})) })
	flying(t, d, 2)
	for range 100 {
		op := nop()
		d.Do(bg, op)
	}
	p.write("0123456789")
	all.Wait()
	for i := range ops {
		want(t, &ops[i], 1, nil)
	}
}

// Law: a thousand goroutines on four slots, each many times.
func TestAThousandGoroutinesOnFourSlots(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			for range 10 {
				op := nop()
				d.Do(bg, op)
				want(t, op, 0, nil)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 10000, d.Stats().Operations)
}

// more are slots of which there are a few more, one at a time.
type more struct{ left, given int }

func (m *more) Grow(int) int {
	if m.left == 0 {
		return 0
	}
	m.left--
	return 1
}

func (*more) Wanted() bool { return false }

func (m *more) Drop() { m.given++ }

// Law: a batch that finds more slots uses them, and gives all of them back.
func TestABatchGrowsIntoFreeSlots(t *testing.T) {
	d := newDriver(t, Config{Slots: 64})
	slots := &more{left: 5}
	ops := make([]fileop.Op, 100)
	for i := range ops {
		ops[i] = fileop.Op{Kind: fileop.Sleep, Off: int64(time.Millisecond)}
	}
	d.DoAll(bg, ops, nil, 2, slots)
	require.Zero(t, slots.left)
	require.Equal(t, 2-1+5, slots.given)
}
