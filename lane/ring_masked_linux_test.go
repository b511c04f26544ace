package lane_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/internal/slab"
	"github.com/iolane/iolane/internal/uring"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lane/lanetest"
)

// native is an operation that the ring can do, and the kernel's for it.
type native struct {
	op   uring.Op
	kind fileop.Kind
}

var natives = []native{
	{uring.OpNop, fileop.Nop},
	{uring.OpTimeout, fileop.Sleep},
	{uring.OpRead, fileop.Read},
	{uring.OpReadv, fileop.Read},
	{uring.OpWrite, fileop.Write},
	{uring.OpWritev, fileop.Write},
}

// codeOf is the kernel's operation for one that the ring was asked for.
func codeOf(op *lane.Op) uring.Op {
	vectored := op.More != nil && op.More.Bufs != nil
	for _, n := range natives {
		if n.kind == op.Kind && vectored == (n.op == uring.OpReadv || n.op == uring.OpWritev) {
			return n.op
		}
	}
	panic("not for a ring")
}

// asked counts what a ring was asked for, and has it refuse one operation.
type asked struct {
	refuse uring.Op
	on     bool

	mu sync.Mutex
	n  map[uring.Op]uint64
}

func (a *asked) tamper(op *lane.Op, res int32) int32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	code := codeOf(op)
	a.n[code]++
	if a.on && code == a.refuse {
		return -int32(syscall.EINVAL)
	}
	return res
}

// ends is where the program writes to, and reads it from.
type ends struct {
	r, w *fileop.File
	at   int64
	data []byte // of each transfer
}

// pipeEnds is ends whose transfers must not be done twice.
func pipeEnds(t *testing.T) ends {
	r, w := openPipe(t)
	return ends{r, w, fileop.AtPosition, []byte("hello")}
}

// fileEnds is ends whose transfers may be refused when they have been done: direct writes go to a ring.
func fileEnds(t *testing.T) ends {
	r := openFile(t, "", os.O_RDONLY)
	fd, err := syscall.Open(r.Name, os.O_WRONLY|syscall.O_DIRECT|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no direct I/O here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	w := &fileop.File{Name: r.Name, FD: uintptr(fd)}
	require.NoError(t, fileop.Describe(w))
	m, err := slab.Map(8192, 4096)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Free()) })
	data := m.Bytes[:8192]
	for i := range data {
		data[i] = byte(i + i>>8)
	}
	return ends{r, w, 0, data}
}

// program does each operation that a ring can do, several times.
func (e ends) program(t *testing.T, l *lane.Ring) {
	t.Helper()
	ctx := context.Background()
	n := len(e.data)
	transfer := func(k fileop.Kind, f *fileop.File, buf []byte, vectored bool) *lane.Op {
		op := &lane.Op{Kind: k, File: f, Buf: buf, Off: e.at}
		if vectored {
			op.More = &fileop.More{Bufs: [][]byte{buf[:n/2], buf[n/2:]}}
		}
		return op
	}
	ways := []func(*lane.Op){
		func(op *lane.Op) { operate(t, l, op) },
		func(op *lane.Op) {
			all := []lane.Op{*op}
			require.NoError(t, l.OperateAll(ctx, lane.Call{}, all))
			*op = all[0]
		},
		func(op *lane.Op) {
			require.NoError(t, l.Fiber(ctx, lane.Call{}, func(ctx context.Context) {
				require.NoError(t, l.Operate(ctx, lane.Call{}, op))
			}))
		},
	}
	for _, do := range ways {
		for vectors := range 4 {
			op := transfer(fileop.Write, e.w, e.data, vectors&1 != 0)
			do(op)
			came(t, op, int64(n), nil)
			op = transfer(fileop.Read, e.r, make([]byte, n), vectors&2 != 0)
			do(op)
			came(t, op, int64(n), nil)
			require.Equal(t, e.data, op.Buf)
			for _, op := range []*lane.Op{{}, {Kind: fileop.Sleep, Off: 1}} {
				do(op)
				came(t, op, 0, nil)
			}
		}
	}
}

// masked runs the program with a mask, and returns what became of it.
func masked(t *testing.T, e ends, without []uring.Op, a *asked) (lane.RingStats, *lane.Ring) {
	t.Helper()
	a.n = map[uring.Op]uint64{}
	c := slots(4, 2).WithDriver(ringdriver.Config{Without: without, Tamper: a.tamper})
	c.NoInline = true
	l := ring(t, c)
	e.program(t, l)
	s := l.Stats()
	addUp(t, s)
	require.Zero(t, s.Running)
	return s.Ring, l
}

// Law: an operation that the kernel has not got is done by a thread, it alone, and the ring is not asked
// for it; Stats tells.
func TestAnOperationThatTheKernelLacksIsDoneByAThread(t *testing.T) {
	var all asked
	plain, _ := masked(t, pipeEnds(t), nil, &all)
	require.Zero(t, plain.Threads)
	for _, x := range natives {
		t.Run(x.op.String(), func(t *testing.T) {
			var a asked
			e := pipeEnds(t)
			s, l := masked(t, e, []uring.Op{x.op}, &a)
			n := all.n[x.op]
			require.NotZero(t, n)
			require.Equal(t, n, s.Threads)
			require.Equal(t, plain.Served-n, s.Served)
			require.Zero(t, s.Fallback)
			for _, y := range natives {
				want := all.n[y.op]
				if y == x {
					want = 0
				}
				require.Equal(t, want, a.n[y.op], y.op)
			}
			for _, f := range []*fileop.File{e.r, e.w} {
				require.Zero(t, f.Without.Load(), "the file is not to blame")
			}
			program(t, l)
		})
	}
}

// Law: an operation that the kernel refuses is done by a thread, and the ring is not asked again for that kind
// and file; others are not affected; Stats tells how often it was asked in vain.
func TestAnOperationThatTheKernelRefusesIsDoneByAThread(t *testing.T) {
	var all asked
	plain, _ := masked(t, fileEnds(t), nil, &all)
	require.Zero(t, plain.Threads)
	for _, x := range natives {
		t.Run(x.op.String(), func(t *testing.T) {
			a := asked{refuse: x.op, on: true}
			e := fileEnds(t)
			s, _ := masked(t, e, nil, &a)
			ofFile := x.kind == fileop.Read || x.kind == fileop.Write
			want := all.n[x.op] // of what has no file nothing is remembered
			if ofFile {
				want = 1
			}
			require.Equal(t, want, a.n[x.op])
			require.Equal(t, want, s.Fallback)
			require.Equal(t, plain.Served+plain.Threads, s.Served+s.Threads)
			for _, y := range natives {
				if y.kind != x.kind {
					require.Equal(t, all.n[y.op], a.n[y.op], y.op)
				}
			}
			remembered := uint32(0)
			for _, f := range []*fileop.File{e.r, e.w} {
				remembered |= f.Without.Load()
			}
			if ofFile {
				require.EqualValues(t, 1<<x.kind, remembered)
			} else {
				require.Zero(t, remembered)
			}
		})
	}
}

// Law: without the operations for registered memory nothing is registered, and transfers are right.
func TestAKernelWithoutRegisteredTransfers(t *testing.T) {
	for _, op := range []uring.Op{uring.OpReadFixed, uring.OpWriteFixed} {
		t.Run(op.String(), func(t *testing.T) {
			c := slots(4, 2).WithDriver(ringdriver.Config{Without: []uring.Op{op}})
			c.NoInline = true
			l := ring(t, c)
			s := newSlab(t)
			require.ErrorIs(t, l.RegisterBuffers(s), errors.ErrUnsupported)
			require.Zero(t, l.Stats().Ring.Registered)
			read := readOp(openFile(t, "0123456789", os.O_RDWR), 0, 2)
			read.Buf = s.Parts()[0][:4]
			operate(t, l, read)
			came(t, read, 4, nil)
			require.Equal(t, "2345", string(read.Buf))
			l.UnregisterBuffers(s)
		})
	}
}

// Law: a lane whose ring cannot do what the calls of the suite do keeps the laws.
func TestARingThatLacksOperationsKeepsTheLaws(t *testing.T) {
	masks := map[string]ringdriver.Config{
		"lacks":   {Without: []uring.Op{uring.OpRead}},
		"refuses": {Tamper: func(*lane.Op, int32) int32 { return -int32(syscall.EINVAL) }},
	}
	for name, mask := range masks {
		t.Run(name, func(t *testing.T) {
			lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
				l, err := lane.NewRing(lane.RingConfig{Config: c, Threads: c.Workers, Required: true}.WithDriver(mask))
				require.NoError(t, err)
				return operations{l}
			}, lanetest.Options{Carry: true, RealTime: true})
		})
	}
}
