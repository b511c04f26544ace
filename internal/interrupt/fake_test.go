package interrupt

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fake is an operating system whose signals do what a test wants.
type fake struct {
	tid       atomic.Int64
	blocked   bool                 // threads block the signal at first
	onThread  func()               // in thread
	onSend    func(n int, tid int) // in send, the nth from 1
	refuse    func(n int) bool     // send says that it did not
	onDrain   func()               // in drain
	waits     func() (bool, error) // pending
	mu        sync.Mutex           // guards the rest
	tries     []time.Time          // calls of send
	firsts    int                  // sends that were the first of their section
	drains    int
	blocks    int
	blockedAt int // drains before the last block
}

func (f *fake) thread() (int, bool) {
	if f.onThread != nil {
		f.onThread()
	}
	return int(f.tid.Load()), f.blocked
}

func (f *fake) send(tid int, first bool) bool {
	f.mu.Lock()
	f.tries = append(f.tries, time.Now())
	n := len(f.tries)
	refused := f.refuse != nil && f.refuse(n)
	if first && !refused {
		f.firsts++
	}
	f.mu.Unlock()
	if f.onSend != nil {
		f.onSend(n, tid)
	}
	return !refused
}

func (f *fake) pending(int) (bool, error) {
	if f.waits != nil {
		return f.waits()
	}
	return false, nil
}

func (f *fake) drain() {
	f.mu.Lock()
	f.drains++
	f.mu.Unlock()
	if f.onDrain != nil {
		f.onDrain()
	}
}

func (f *fake) block() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocks++
	f.blockedAt = f.drains
}

func (f *fake) release() {}

func (f *fake) sends() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.tries)
}

// call returns a call of the fake.
func (f *fake) call() *Call { return NewCall(&Signal{sys: f}) }

// enter begins a section that must not be refused.
func enter(t *testing.T, c *Call) {
	t.Helper()
	if err := c.Enter(); err != nil {
		t.Fatalf("Enter: %v", err)
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
