package ringdriver

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// broken returns a driver whose ring can be broken, and the reasons that OnDown was told.
func broken(t *testing.T, slots int) (*Driver, chan error) {
	t.Helper()
	told := make(chan error, 10)
	d, err := New(Config{Slots: slots, OnDown: func(err error) { told <- err }})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return d, told
}

// Law: when the kernel fails the ring, what is in flight has its own end and no other, what
// comes later is left to others, the owner is told once, and the driver can be closed.
func TestARingThatFailsInTheMiddle(t *testing.T) {
	for _, fiber := range []bool{false, true} {
		d, told := broken(t, 8)
		g, content := newGate(t), pattern(1000)
		f := file(t, content)
		before, after := newPipe(t), make([]fileop.Op, 20)
		var all sync.WaitGroup
		all.Go(func() {
			if !fiber {
				d.Do(bg, g.op)
				return
			}
			d.Run(bg, nil, func(ctx context.Context) {
				On(ctx).Do(ctx, g.op)
				op := nop()
				On(ctx).Do(ctx, op)
				want(t, op, 0, ErrUnserved)
			})
		})
		flying(t, d, 1)
		op := before.read(2)
		all.Go(func() { d.Do(bg, op) })
		flying(t, d, 2)
		require.NoError(t, d.Down())
		breakRing(t)
		for i := range after {
			after[i] = fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 10), Off: int64(i)}
		}
		d.DoAll(bg, after, nil, 5, drops(func() {}))
		for i := range after {
			want(t, &after[i], 0, ErrUnserved)
			if errors.Is(after[i].Err, ErrRefused) {
				t.Error("it was not refused: the ring is down")
			}
		}
		require.ErrorIs(t, <-told, syscall.EBADF)
		require.ErrorIs(t, d.Down(), syscall.EBADF)
		before.write("ab")
		g.open()
		all.Wait()
		want(t, g.op, 1, nil)
		want(t, op, 2, nil)
		require.Equal(t, "ab", string(op.Buf))
		d.Do(bg, op)
		want(t, op, 2, ErrUnserved)
		shut(t, d)
		select {
		case err := <-told:
			t.Error("told again:", err)
		default:
		}
	}
}

// Law: what is in flight when the ring fails can no longer be called off, but its caller is
// not lost: it ends with what it waits for.
func TestWhatIsCalledOffInARingThatHasFailedEndsByItself(t *testing.T) {
	d, told := broken(t, 8)
	g := newGate(t)
	ctx, cancel := context.WithCancel(bg)
	var all sync.WaitGroup
	all.Go(func() { d.Do(ctx, g.op) })
	flying(t, d, 1)
	breakRing(t)
	op := nop()
	d.Do(bg, op)
	want(t, op, 0, ErrUnserved)
	require.ErrorIs(t, <-told, syscall.EBADF)
	cancel()
	d.Do(bg, op)
	g.open()
	all.Wait()
	want(t, g.op, 1, nil)
	shut(t, d)
}

// Law: whenever the ring fails, each operation of many has one end, with the right data or none.
func TestARingThatFailsUnderLoad(t *testing.T) {
	for range rounds(10, 200) {
		d, told := broken(t, 8)
		content := pattern(1 << 16)
		f := file(t, content)
		first := make(chan struct{}, 100)
		var all sync.WaitGroup
		one := func(ctx context.Context, i int, do func(context.Context, *fileop.Op)) bool {
			at := int64(i * 64)
			op := &fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 64), Off: at}
			do(ctx, op)
			if op.Err == nil {
				require.EqualValues(t, 64, op.N)
				require.Equal(t, content[at:at+64], op.Buf)
				return true
			}
			require.ErrorIs(t, op.Err, ErrUnserved)
			require.Zero(t, op.N)
			return false
		}
		for i := range 20 {
			all.Go(func() {
				for n := 0; one(bg, i, d.Do); n++ {
					if n == 0 {
						first <- struct{}{}
					}
				}
			})
			all.Go(func() {
				d.Run(bg, nil, func(ctx context.Context) {
					for one(ctx, 100+i, On(ctx).Do) {
					}
				})
			})
			all.Go(func() {
				for err := error(nil); err == nil; {
					ops := make([]fileop.Op, 30)
					d.DoAll(bg, ops, nil, 10, drops(func() {}))
					for i := range ops {
						if err = ops[i].Err; err != nil && !errors.Is(err, ErrUnserved) {
							t.Error(err)
						}
					}
				}
			})
		}
		for range 5 {
			<-first
		}
		breakRing(t)
		all.Wait()
		require.ErrorIs(t, <-told, syscall.EBADF)
		shut(t, d)
	}
}

// Law: a fiber that blocks is taken over in a ring that has failed, too.
func TestFibersGoOnInARingThatHasFailed(t *testing.T) {
	d, told := broken(t, 4)
	breakRing(t)
	for range 3 {
		d.Run(bg, nil, func(ctx context.Context) {
			op := nop()
			On(ctx).Do(ctx, op)
			want(t, op, 0, ErrUnserved)
			takenOver(ctx)
			On(ctx).Do(ctx, op)
			want(t, op, 0, ErrUnserved)
			ran := false
			On(ctx).Away(func() { ran = true })
			require.True(t, ran)
		})
	}
	require.ErrorIs(t, <-told, syscall.EBADF)
	shut(t, d)
}

// Law: a ring that fails while its own operation waits to be woken can be closed: nothing of it
// is left.
func TestARingThatHasFailedLeavesNothing(t *testing.T) {
	before := descriptors(t)
	d, told := broken(t, 4)
	g := newGate(t)
	var all sync.WaitGroup
	all.Go(func() { d.Do(bg, g.op) })
	flying(t, d, 1)
	for d.inbox.head.Load() != &d.inbox.asleep {
		runtime.Gosched()
	}
	g.open() // ends the wait, so that what Wake ends goes on to wait
	all.Wait()
	for d.inbox.head.Load() != &d.inbox.idle {
		runtime.Gosched()
	}
	breakRing(t)
	op := nop()
	d.Do(bg, op)
	want(t, op, 0, ErrUnserved)
	require.ErrorIs(t, <-told, syscall.EBADF)
	require.NoError(t, d.Close(bg))
	g.close()
	require.Equal(t, before, descriptors(t))
}
