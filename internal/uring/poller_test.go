package uring

import (
	"syscall"
	"testing"
	"time"
)

// late is a kernel whose poller completes entries before it moves the head past them.
type late struct {
	*fake

	head uint32 // where it will be
}

func (k *late) enter(fd int, submit, wait, flags uint32, arg *extArg, quick bool) (int, syscall.Errno) {
	before := *k.word(0)
	*k.word(0) = max(before, k.head)
	n, e := k.fake.enter(fd, submit, wait, flags, arg, quick)
	k.head, *k.word(0) = *k.word(0), before
	return n, e
}

func (k *late) sleep(d time.Duration) {
	k.fake.sleep(d)
	*k.word(0) = k.head
}

func TestADriverThatWasJustWokenCanBeWokenAgain(t *testing.T) {
	k := &late{fake: newFake()}
	r, err := newRing(k, Config{SQPoll: true})
	if err != nil {
		t.Fatal(err)
	}
	k.ring = r
	*k.word(8) |= sqNeedWakeup
	for i := range uint64(3) {
		r.Wake()
		if err := r.Enter(All, 1, time.Second); err != nil {
			t.Fatal(err)
		}
		if r.Reap(nil); r.Stats().Wakeups != i+1 {
			t.Fatalf("%d wake-ups, want %d", r.Stats().Wakeups, i+1)
		}
	}
	if k.calls["sleep"] == 0 {
		t.Error("the head was never late")
	}
	*k.word(0) = k.head
	closed(t, r, k.fake)
}
