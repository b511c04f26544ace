package pool

import (
	"slices"
	"sync"
)

// sharedTray is a tray that many use, and wait for. mu guards it all, and is a leaf.
type sharedTray[T any] struct {
	mu      sync.Mutex
	tray    tray[T]
	waiters []*waiter // those who wait
	spare   []*waiter // those who did
}

// waiter is somebody who waits until least results are ready. A token wakes him; there is at
// most one.
type waiter struct {
	least int
	token chan struct{}
}

func (t *sharedTray[T]) take() (slot int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tray.take()
}

func (t *sharedTray[T]) drop(slot int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tray.drop(slot)
	t.ring()
}

func (t *sharedTray[T]) put(slot int, v T, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tray.put(slot, v, err)
	t.ring()
}

func (t *sharedTray[T]) next() (Result[T], bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tray.next()
}

// enough reports whether least results are ready, or no more will be. mu is held.
func (t *sharedTray[T]) enough(least int) bool { return t.tray.n >= least || t.tray.out() == 0 }

// ring wakes those who have waited for what there is. mu is held.
func (t *sharedTray[T]) ring() {
	for _, w := range t.waiters {
		if t.enough(w.least) {
			select {
			case w.token <- struct{}{}:
			default:
			}
		}
	}
}

// wait waits until least results are ready, or no more will be. It reports false if done came
// first.
func (t *sharedTray[T]) wait(done <-chan struct{}, least int) (ready int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.enough(least) {
		return t.tray.n, true
	}
	w := t.waiter(least)
	for ended := false; !ended && !t.enough(least); {
		t.mu.Unlock()
		select {
		case <-w.token:
		case <-done:
			ended = true
		}
		t.mu.Lock()
	}
	t.waiters = slices.DeleteFunc(t.waiters, func(x *waiter) bool { return x == w })
	select {
	case <-w.token:
	default:
	}
	t.spare = append(t.spare, w)
	return t.tray.n, t.enough(least)
}

// waiter is a new one, or one that has waited before. mu is held.
func (t *sharedTray[T]) waiter(least int) (w *waiter) {
	if n := len(t.spare); n > 0 {
		w, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		w = &waiter{token: make(chan struct{}, 1)}
	}
	w.least = least
	t.waiters = append(t.waiters, w)
	return w
}
