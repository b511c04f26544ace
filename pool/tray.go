package pool

import "github.com/iolane/iolane/ioerr"

// Result is how one call of a batch has ended.
type Result[T any] struct {
	Slot  int // what Add returned
	Value T
	Err   error // as of Async, or of Transact
}

// tray is the room of a batch: results by slot, and which of them are free or ready. All of
// it is allocated once.
//
// A slot is free, then under way from take to put, then ready, until next has taken its
// result out.
type tray[T any] struct {
	results []Result[T]
	free    []int32 // a stack
	ready   []int32 // in the order in which they ended; a ring of n from head on
	head, n int
}

func (t *tray[T]) init(size int) {
	t.results, t.free, t.ready = make([]Result[T], size), make([]int32, size), make([]int32, size)
	for i := range t.free {
		t.free[i] = int32(size - 1 - i)
	}
}

// out is how many calls are under way.
func (t *tray[T]) out() int { return len(t.results) - len(t.free) - t.n }

// take takes a slot for a call.
func (t *tray[T]) take() (slot int, ok bool) {
	n := len(t.free)
	if n == 0 {
		return -1, false
	}
	slot = int(t.free[n-1])
	t.free = t.free[:n-1]
	return slot, true
}

// drop gives the slot of a call back that has not begun, and has no result.
func (t *tray[T]) drop(slot int) { t.free = append(t.free, int32(slot)) }

// put notes a result.
func (t *tray[T]) put(slot int, v T, err error) {
	t.results[slot] = Result[T]{slot, v, err}
	t.ready[t.place(t.n)] = int32(slot)
	t.n++
}

// place is where the i-th of those that are ready stands.
func (t *tray[T]) place(i int) int {
	if i += t.head; i >= len(t.ready) {
		i -= len(t.ready)
	}
	return i
}

// next takes out the result that has been ready for longest.
func (t *tray[T]) next() (r Result[T], ok bool) {
	if t.n == 0 {
		return r, false
	}
	slot := t.ready[t.head]
	t.head = t.place(1)
	t.n--
	r, t.results[slot] = t.results[slot], Result[T]{}
	t.free = append(t.free, slot)
	return r, true
}

// full is the error of a call for which there is no slot.
func (c *core) full(label string) error {
	return c.count(&ioerr.Error{
		Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Label: label, Lane: c.lane.Name(), Err: ioerr.ErrBatchFull,
	})
}
