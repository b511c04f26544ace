package ringdriver

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// doers are the ways to have one operation done.
func doers(d *Driver) map[string]func(ctx context.Context, op *fileop.Op) {
	return map[string]func(ctx context.Context, op *fileop.Op){
		"goroutine": d.Do,
		"fiber's own context": func(ctx context.Context, op *fileop.Op) {
			d.Run(ctx, nil, func(ctx context.Context) { On(ctx).Do(ctx, op) })
		},
		"context made in a fiber": func(ctx context.Context, op *fileop.Op) {
			d.Run(bg, nil, func(inner context.Context) {
				own, cancel := context.WithCancel(inner)
				defer context.AfterFunc(ctx, cancel)()
				if ctx.Err() != nil {
					cancel()
				}
				On(own).Do(own, op)
			})
		},
		"fiber that has lost the ring": func(ctx context.Context, op *fileop.Op) {
			d.Run(ctx, nil, func(ctx context.Context) {
				takenOver(ctx)
				On(ctx).Do(ctx, op)
			})
		},
	}
}

// onEachDoer runs a test with each of them. The driver has so many slots.
func onEachDoer(t *testing.T, slots int, f func(t *testing.T, d *Driver, do func(context.Context, *fileop.Op))) {
	for name := range doers(nil) {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, Config{Slots: slots})
			f(t, d, doers(d)[name])
		})
	}
}

// Law: what is called off before it has begun never happens.
func TestWhatIsCalledOffBeforeItsBeginningNeverHappens(t *testing.T) {
	onEachDoer(t, 4, func(t *testing.T, _ *Driver, do func(context.Context, *fileop.Op)) {
		p := newPipe(t)
		ctx, cancel := context.WithCancel(bg)
		cancel()
		op := p.read(8)
		do(ctx, op)
		want(t, op, 0, fileop.ErrCancelled)
		p.write("data")
		require.Equal(t, "data", p.left())
	})
}

// Law: what is called off while there is no slot for it never happens, and waits for none.
func TestWhatIsCalledOffBeforeItHasASlotWaitsForNone(t *testing.T) {
	onEachDoer(t, 1, func(t *testing.T, d *Driver, do func(context.Context, *fileop.Op)) {
		g, p := newGate(t), newPipe(t)
		var all sync.WaitGroup
		all.Go(func() { d.Do(bg, g.op) })
		flying(t, d, 1)
		p.write("data")
		ctx, cancel := context.WithCancel(bg)
		op := p.read(8)
		var late sync.WaitGroup
		late.Go(func() { do(ctx, op) })
		until(t, d, func() bool { return d.pending.first != nil })
		cancel()
		late.Wait() // with the gate closed
		want(t, op, 0, fileop.ErrCancelled)
		require.Equal(t, "data", p.left())
		g.open()
		all.Wait()
		want(t, g.op, 1, nil)
	})
}

// Law: what waits in flight is called off, and no byte is lost.
func TestWhatWaitsInFlightIsCalledOff(t *testing.T) {
	onEachDoer(t, 4, func(t *testing.T, d *Driver, do func(context.Context, *fileop.Op)) {
		p := newPipe(t)
		ctx, cancel := context.WithCancel(bg)
		op := p.read(8)
		copy(op.Buf, "........")
		var all sync.WaitGroup
		all.Go(func() { do(ctx, op) })
		flying(t, d, 1)
		cancel()
		all.Wait()
		want(t, op, 0, fileop.ErrCancelled)
		p.write("data")
		require.Equal(t, "data", p.left())
		require.Equal(t, "........", string(op.Buf), "the buffer is touched after the end")
	})
}

// Law: a success that comes before the cancellation is told as one: no byte is lost.
func TestALateSuccessIsTold(t *testing.T) {
	onEachDoer(t, 4, func(t *testing.T, d *Driver, do func(context.Context, *fileop.Op)) {
		p := newPipe(t)
		ctx, cancel := context.WithCancel(bg)
		p.write("data")
		asOwner(t, d, func() {
			d.tamper = func(op *fileop.Op, res int32) int32 {
				if op.Kind == fileop.Read {
					cancel() // it has completed, and its caller does not know
				}
				return res
			}
		})
		op := p.read(8)
		do(ctx, op)
		want(t, op, 4, nil)
		require.Empty(t, p.left())
	})
}

// Law: a cancellation that comes late meets no later use of the same request.
func TestALateCancellationMeetsNobodyElse(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	r := newRequest()
	r.use(sliceOf(nop()), nil, 1, nil)
	d.send(&r.begin)
	d.await(r)
	off := &message{kind: cancel, req: r, turn: r.turn}
	g := newGate(t)
	r.use(sliceOf(g.op), nil, 1, nil)
	d.send(&r.begin)
	d.send(off)
	flying(t, d, 1)
	g.open()
	d.await(r)
	want(t, g.op, 1, nil)
	d.send(off)
	op := nop()
	d.Do(bg, op)
	want(t, op, 0, nil)
}

// Law: the end of a fiber's context calls its operation off; one that is shielded from it
// goes on, and so do later ones.
func TestAnOperationThatIsShieldedFromTheContextGoesOn(t *testing.T) {
	for _, before := range []bool{true, false} {
		d := newDriver(t, Config{Slots: 4})
		g := newGate(t)
		ctx, cancel := context.WithCancel(bg)
		var all sync.WaitGroup
		all.Go(func() {
			d.Run(ctx, nil, func(ctx context.Context) {
				f, shield := On(ctx), context.WithoutCancel(ctx)
				if before {
					cancel()
				}
				f.Do(shield, g.op)
				want(t, g.op, 1, nil)
				op := nop()
				f.Do(ctx, op)
				want(t, op, 0, fileop.ErrCancelled)
				f.Do(shield, op)
			})
		})
		flying(t, d, 1)
		cancel()
		flying(t, d, 1)
		g.open()
		all.Wait()
	}
}

// Law: a Full transfer that is called off half-way tells how far it has come.
func TestAFullTransferThatIsCalledOffTellsHowFarItHasCome(t *testing.T) {
	onEachDoer(t, 4, func(t *testing.T, d *Driver, do func(context.Context, *fileop.Op)) {
		p := newPipe(t)
		ctx, cancel := context.WithCancel(bg)
		op := p.read(8)
		op.Full = true
		p.write("abc")
		var all sync.WaitGroup
		all.Go(func() { do(ctx, op) })
		until(t, d, func() bool { return d.inFlight == 1 && op.N == 3 })
		cancel()
		all.Wait()
		want(t, op, 3, fileop.ErrCancelled)
		require.Equal(t, "abc", string(op.Buf[:3]))
		p.write("def")
		require.Equal(t, "def", p.left())
	})
}

// Law: a sleep that is called off ends early, one that is not never does, and a sleep can be
// as long as there are numbers for.
func TestSleeps(t *testing.T) {
	onEachDoer(t, 4, func(t *testing.T, d *Driver, do func(context.Context, *fileop.Op)) {
		for _, long := range []time.Duration{time.Hour, 1<<63 - 1} {
			ctx, cancel := context.WithCancel(bg)
			op := sleep(long)
			var all sync.WaitGroup
			all.Go(func() { do(ctx, op) })
			flying(t, d, 1)
			cancel()
			all.Wait()
			want(t, op, 0, fileop.ErrCancelled)
		}
		for _, short := range []time.Duration{-1 << 63, -time.Second, 0, 1, 3 * time.Millisecond} {
			op, began := sleep(short), time.Now()
			do(bg, op)
			want(t, op, 0, nil)
			if took := time.Since(began); took < short {
				t.Errorf("a sleep of %v took %v", short, took)
			}
		}
	})
}

// Law: a batch that is called off half-way: what has happened is told, the rest never
// happens, and each has one outcome.
func TestABatchThatIsCalledOffHalfWay(t *testing.T) {
	for _, fiber := range []bool{false, true} {
		d := newDriver(t, Config{Slots: 4})
		full, empty, behind := newPipe(t), newPipe(t), newPipe(t)
		full.write("data")
		behind.write("data")
		ops := []fileop.Op{*full.read(4), *empty.read(4), *empty.read(4), *empty.read(4), *behind.read(4), *behind.read(4)}
		ctx, cancel := context.WithCancel(bg)
		given := 0
		give := func() { given++ }
		var all sync.WaitGroup
		all.Go(func() {
			if !fiber {
				d.DoAll(ctx, ops, nil, 3, drops(give))
				return
			}
			d.Run(ctx, nil, func(ctx context.Context) { On(ctx).DoAll(ctx, ops, nil, 3, drops(give)) })
		})
		until(t, d, func() bool { return d.inFlight == 3 && ops[0].N == 4 })
		cancel()
		all.Wait()
		want(t, &ops[0], 4, nil)
		for i := range ops[1:] {
			want(t, &ops[1+i], 0, fileop.ErrCancelled)
		}
		require.Equal(t, 2, given)
		require.Equal(t, "data", behind.left())
	}
}

// Law: more cancellations than the ring has room for at a time are all made.
func TestMoreCancellationsThanTheRingHasRoomForAreAllMade(t *testing.T) {
	d := newDriver(t, Config{Slots: 256})
	n := 256
	require.Less(t, d.Info().Cancels, 2*n)
	p := newPipe(t)
	ops := make([]fileop.Op, n)
	for i := range ops {
		ops[i] = *p.read(1)
	}
	ctx, cancel := context.WithCancel(bg)
	var all sync.WaitGroup
	all.Go(func() { d.DoAll(ctx, ops[:n/2], nil, n, nil) })
	for i := n / 2; i < n; i++ {
		all.Go(func() { d.Do(ctx, &ops[i]) })
	}
	flying(t, d, n)
	cancel()
	all.Wait()
	for i := range ops {
		want(t, &ops[i], 0, fileop.ErrCancelled)
	}
}

// Law: what the kernel has not found, or could not stop, is cancelled again until it ends.
func TestWhatDoesNotEndIsCancelledAgain(t *testing.T) {
	d := newDriver(t, Config{Slots: 8})
	for i := range 20 {
		op := newGate(t).op
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			d.Do(bg, op)
		}()
		flying(t, d, 1)
		asOwner(t, d, func() { // as if the kernel had not found it so often
			for _, f := range d.table {
				if f.req != nil {
					f.req.calledOff = true
					d.insist(use{req: f.req, turn: f.req.at, due: time.Now().Add(time.Millisecond), pause: time.Duration(i) * time.Millisecond})
				}
			}
		})
		<-ended
		want(t, op, 0, fileop.ErrCancelled)
	}
	for d.inbox.head.Load() != &d.inbox.idle {
		runtime.Gosched()
	}
	asOwner(t, d, func() { require.Empty(t, d.insisted) })
}

// Law: what has ended is not cancelled again, whoever has its request by then.
func TestWhatHasEndedIsNotCancelledAgain(t *testing.T) {
	d := newDriver(t, Config{Slots: 8})
	d.Run(bg, nil, func(ctx context.Context) {
		f := On(ctx)
		for range 20 {
			short, cancel := context.WithTimeout(ctx, time.Microsecond)
			op := sleep(time.Hour)
			f.Do(short, op)
			want(t, op, 0, fileop.ErrCancelled)
			cancel()
			op = sleep(2 * insistFirst)
			f.Do(ctx, op)
			want(t, op, 0, nil)
		}
	})
}
