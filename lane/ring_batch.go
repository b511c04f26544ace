package lane

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/internal/ringdriver"
)

// batch is one OperateAll.
type batch struct {
	lane    *Ring
	call    Call
	ops     []Op
	native  int     // operations for the ring
	which   []int32 // these, if not all
	threads []int32 // the others
	cursor  atomic.Int64

	panicked atomic.Pointer[any] // what a context of somebody's making did on another goroutine
}

// guard keeps a panic for the caller's goroutine: on another one it would end the process.
func (b *batch) guard(fn func()) {
	defer func() {
		if r := recover(); r != nil {
			b.panicked.CompareAndSwap(nil, &r)
		}
	}()
	fn()
}

// rethrow panics as one of the others has, when they have ended.
func (b *batch) rethrow() {
	if r := b.panicked.Swap(nil); r != nil {
		panic(*r)
	}
}

// sort says what goes where.
func (b *batch) sort(d *ringdriver.Driver) {
	for i := range b.ops {
		reset(&b.ops[i])
		if d == nil || !b.lane.serves(d, &b.ops[i]) {
			b.threads = append(b.threads, int32(i))
		}
	}
	b.native = len(b.ops) - len(b.threads)
	if b.native == len(b.ops) {
		return
	}
	b.which = make([]int32, 0, b.native)
	next := 0
	for i := range b.ops {
		if next < len(b.threads) && b.threads[next] == int32(i) {
			next++
			continue
		}
		b.which = append(b.which, int32(i))
	}
}

// collect finds what the ring has not done after all, and reports whether there is such.
func (b *batch) collect() bool {
	b.threads = b.threads[:0]
	for i := range b.ops {
		if errors.Is(b.ops[i].Err, ringdriver.ErrUnserved) {
			b.threads = append(b.threads, int32(i))
		}
	}
	return len(b.threads) > 0
}

// onThreads does operations on as many threads as the lane has. If they were admitted
// before, with others, none is refused; otherwise the first may be, and then none is done.
func (b *batch) onThreads(ctx context.Context, admitted bool) error {
	l, duty := b.lane, b.call
	b.cursor.Store(0)
	duty.Must, duty.NoWait, duty.Key = true, false, ""
	enter := func(c Call) (Slot, error) { return l.gated.Enter(context.WithoutCancel(ctx), c) }
	var slot Slot
	var err error
	if admitted {
		slot, err = enter(duty)
	} else {
		slot, err = l.gated.Enter(ctx, b.call)
	}
	if err != nil {
		return err
	}
	one := func(slot Slot, i int64) {
		defer l.gated.Leave(slot)
		l.doOnThread(ctx, &b.ops[b.threads[i]])
	}
	work := func(slot Slot, i int64) {
		for i < int64(len(b.threads)) {
			one(slot, i)
			if i = b.cursor.Add(1); i < int64(len(b.threads)) {
				slot, _ = enter(duty) // those on duty are not refused
			}
		}
	}
	var others sync.WaitGroup
	defer b.rethrow()
	defer others.Wait()
	for range min(len(b.threads), l.gates[0].Most()) - 1 {
		others.Go(func() {
			b.guard(func() {
				if i := b.cursor.Add(1); i < int64(len(b.threads)) {
					slot, _ := enter(duty)
					work(slot, i)
				}
			})
		})
	}
	work(slot, 0)
	return nil
}
