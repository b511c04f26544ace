package ringdriver

import "sync/atomic"

type kind uint8

const (
	begin  kind = iota // the operations of a request
	cancel             // calls a request off
	start              // a fiber
	wake               // a fiber that was away
	end                // a fiber whose context has ended
	errand             // has a function run on the driver
	stop               // the driver
)

// message is what the driver is told. It is a part of what it is about, and must not be
// pushed again before the driver has seen it.
type message struct {
	next  *message
	kind  kind
	turn  uint64 // with cancel: which use of the request is meant
	req   *request
	fiber *Fiber
	fn    func()
}

// inbox is a stack of messages; see the package comment.
type inbox struct {
	head atomic.Pointer[message]
	_    [56]byte

	asleep message       // its address is the mark of a driver that sleeps in the kernel
	idle   message       // or on roused
	roused chan struct{} // of capacity one: at most one message finds the mark
}

// push adds a message, and returns which mark it found there, or nil.
func (b *inbox) push(m *message) (mark *message) {
	for {
		head := b.head.Load()
		marked := head == &b.asleep || head == &b.idle
		if m.next = head; marked {
			m.next = nil
		}
		if b.head.CompareAndSwap(head, m) {
			if marked {
				return head
			}
			return nil
		}
	}
}

// rest puts a mark there, unless there is a message.
func (b *inbox) rest(mark *message) bool { return b.head.CompareAndSwap(nil, mark) }

// rise takes the mark away, if it is still there.
func (b *inbox) rise(mark *message) { b.head.CompareAndSwap(mark, nil) }

// take empties the inbox. The first in the list came first.
func (b *inbox) take() *message {
	if b.head.Load() == nil {
		return nil
	}
	var first *message
	for m := b.head.Swap(nil); m != nil; {
		next := m.next
		m.next, first = first, m
		m = next
	}
	return first
}
