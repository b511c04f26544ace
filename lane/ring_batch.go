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
//
// The caller has a slot until there is nothing left to take, and the others take only with a
// slot in hand: so each operation has one, also if the lane shuts down meanwhile.
func (b *batch) onThreads(ctx context.Context, admitted bool) error {
	l, duty := b.lane, b.call
	b.cursor.Store(0)
	duty.Must, duty.Key = true, ""
	enter := func(ctx context.Context) (Slot, error) { return l.gated.Enter(ctx, duty) }
	var slot Slot
	var err error
	if admitted {
		slot, err = enter(context.WithoutCancel(ctx))
	} else {
		slot, err = l.gated.Enter(ctx, b.call)
	}
	covered := err != nil && admitted && duty.NoWait // by the slot of the call around it, perhaps
	if err != nil && !covered {
		return err
	}
	more, nothingLeft := context.WithCancel(context.WithoutCancel(ctx))
	var others sync.WaitGroup
	defer b.rethrow()
	defer others.Wait()
	defer nothingLeft()
	for range min(len(b.threads), l.gates[0].Most()) - 1 {
		others.Go(func() {
			b.guard(func() {
				for b.takeOne(ctx, func() (Slot, error) { return enter(more) }) {
				}
			})
		})
	}
	if !covered {
		defer l.gated.Leave(slot)
	}
	for i := int64(0); i < int64(len(b.threads)); i = b.cursor.Add(1) {
		l.doOnThread(ctx, &b.ops[b.threads[i]])
	}
	return nil
}

// takeOne does the next operation under a slot of its own, and reports false if there is none.
func (b *batch) takeOne(ctx context.Context, enter func() (Slot, error)) bool {
	if b.cursor.Load() >= int64(len(b.threads))-1 {
		return false
	}
	slot, err := enter()
	if err != nil {
		return false
	}
	defer b.lane.gated.Leave(slot)
	i := b.cursor.Add(1)
	if i >= int64(len(b.threads)) {
		return false
	}
	b.lane.doOnThread(ctx, &b.ops[b.threads[i]])
	return true
}
