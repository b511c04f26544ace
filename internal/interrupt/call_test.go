package interrupt

import (
	"errors"
	"runtime"
	"sync"
	"testing"
)

func TestACallThatWasAskedEntersNoSection(t *testing.T) {
	f := &fake{onThread: func() { t.Error("looks for its thread") }}
	c := f.call()
	if !c.Ask() {
		t.Error("a call that is in no section has not acknowledged")
	}
	if err := c.Enter(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("Enter: %v", err)
	}
	if n := f.sends(); n != 0 {
		t.Errorf("%d signals", n)
	}
}

// The word is set after Enter's first look at it and before its second.
func TestAskedOnTheWayInIsNotMissed(t *testing.T) {
	f := &fake{}
	c := f.call()
	f.onThread = func() {
		if !c.Ask() {
			t.Error("not acknowledged: nobody is in the section yet")
		}
	}
	if err := c.Enter(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("Enter: %v", err)
	}
	if n := f.sends(); n != 0 {
		t.Errorf("%d signals to a thread in no section", n)
	}
}

func TestTheWordIsSetBeforeTheSignalIsSent(t *testing.T) {
	f := &fake{}
	f.tid.Store(7)
	c := f.call()
	f.onSend = func(_, tid int) {
		if !c.Asked() || tid != 7 {
			t.Errorf("asked %v, thread %d", c.Asked(), tid)
		}
	}
	enter(t, c)
	if c.Ask() {
		t.Error("acknowledged in its section")
	}
	if n := f.sends(); n != 1 {
		t.Errorf("%d signals", n)
	}
	c.Leave()
}

// Leave must not return, nor the thread do anything else, while a sender is between
// its look at the call and the signal.
func TestLeaveWaitsForTheSender(t *testing.T) {
	f := &fake{}
	c := f.call()
	f.onSend = func(int, int) {
		if c.mu.TryLock() {
			t.Error("the thread may be forgotten while it is signalled")
			c.mu.Unlock()
		}
	}
	enter(t, c)
	c.Ask()
	c.Leave()
}

func TestNoSignalIsSentAfterLeave(t *testing.T) {
	f := &fake{}
	c := f.call()
	f.onDrain = func() {
		if !c.Ask() {
			t.Error("signalled while it drains")
		}
	}
	enter(t, c)
	c.Ask()
	c.Leave()
	if !c.Ask() || f.sends() != 1 {
		t.Errorf("%d signals", f.sends())
	}
}

func TestLeaveDrainsIfAndOnlyIfSignalled(t *testing.T) {
	f := &fake{refuse: func(n int) bool { return n == 1 }}
	c := f.call()
	enter(t, c)
	c.Leave()
	if f.drains != 0 {
		t.Error("drains without need")
	}
	c = f.call()
	enter(t, c)
	c.Ask() // cannot be sent
	c.Leave()
	if f.drains != 0 || f.firsts != 0 {
		t.Errorf("%d drains, %d first signals: nothing was sent", f.drains, f.firsts)
	}
	c = f.call()
	enter(t, c)
	c.Ask()
	c.Ask()
	c.Leave()
	if f.drains != 1 || f.firsts != 1 {
		t.Errorf("%d drains, %d first signals", f.drains, f.firsts)
	}
}

func TestSectionsOfOneCallNest(t *testing.T) {
	f := &fake{}
	c := f.call()
	enter(t, c)
	enter(t, c)
	c.Ask()
	if err := c.Enter(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("Enter: %v", err)
	}
	c.Leave()
	if f.drains != 0 {
		t.Error("drains though more signals may come")
	}
	if c.Ask() {
		t.Error("acknowledged in the outer section")
	}
	c.Leave()
	if !c.Ask() || f.sends() != 2 || f.drains != 1 {
		t.Errorf("%d signals, %d drains", f.sends(), f.drains)
	}
}

func TestSectionsOfTwoCallsNest(t *testing.T) {
	f := &fake{}
	outer, inner := f.call(), f.call()
	enter(t, outer)
	enter(t, inner)
	outer.Ask()
	if inner.Asked() {
		t.Error("the inner call was not asked")
	}
	inner.Leave()
	if f.drains != 0 {
		t.Error("the inner call drains what it was not sent")
	}
	outer.Leave()
	if f.drains != 1 {
		t.Errorf("%d drains", f.drains)
	}
}

// A thread that blocks the signal does so again afterwards, but only when what was
// sent has arrived.
func TestLeaveBlocksTheSignalAgain(t *testing.T) {
	f := &fake{blocked: true}
	c := f.call()
	enter(t, c)
	f.blocked = false
	enter(t, c)
	c.Ask()
	c.Leave()
	if f.blocks != 0 {
		t.Error("blocked in the outer section")
	}
	c.Leave()
	if f.blocks != 1 || f.blockedAt != 1 {
		t.Errorf("blocked %d times, after %d drains", f.blocks, f.blockedAt)
	}
	f.blocked = true
	c = f.call()
	f.onThread = func() { c.Ask() }
	if err := c.Enter(); err == nil || f.blocks != 2 {
		t.Errorf("refused with %v: blocked %d times", err, f.blocks)
	}
}

func TestAPanicEndsTheSection(t *testing.T) {
	f := &fake{}
	c := f.call()
	mustPanic(t, "section", func() {
		enter(t, c)
		defer c.Leave()
		c.Ask()
		panic("in the section")
	})
	if !c.Ask() || f.drains != 1 {
		t.Errorf("%d drains", f.drains)
	}
}

func TestMisuseIsFoundOut(t *testing.T) {
	f := &fake{}
	c := f.call()
	mustPanic(t, "Leave without Enter", c.Leave)
	enter(t, c)
	f.tid.Store(2)
	mustPanic(t, "two threads", func() { _ = c.Enter() })
	mustPanic(t, "reset in a section", func() { c.Reset(nil) })
	c.Leave()
	c.Ask()
	c.Reset(c.sig)
	enter(t, c)
	c.Leave()
}

func TestACallOfNobody(t *testing.T) {
	var c *Call
	enter(t, c)
	if c.Asked() {
		t.Error("asked")
	}
	c.Leave()
}

func TestACallWithoutSignalIsAskedOnly(t *testing.T) {
	c := NewCall(nil)
	enter(t, c)
	if c.Ask() || !c.Asked() {
		t.Error("acknowledged in its section, or not asked")
	}
	c.Leave()
	if !c.Ask() {
		t.Error("not acknowledged")
	}
	if err := c.Enter(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("Enter: %v", err)
	}
}

func TestSectionsAllocateNothing(t *testing.T) {
	c := (&fake{}).call()
	var s Set
	if n := testing.AllocsPerRun(100, func() {
		s.Add(c)
		if c.Enter() == nil {
			c.Leave()
		}
		s.Remove(c)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Callers with threads of their own and askers at random: a thread is signalled
// only while its own call is in a section, and every call ends.
func TestSignalsMeetTheirOwnSectionOnly(t *testing.T) {
	const callers, rounds = 4, 200
	var owner [callers]struct {
		sync.Mutex
		call *Call // whose section the thread is in, from before Enter until after Leave
	}
	f := &fake{}
	f.onSend = func(_, tid int) {
		o := &owner[tid]
		o.Lock()
		defer o.Unlock()
		if o.call == nil || !o.call.Asked() {
			t.Error("signal to a thread of no call that was asked")
		}
	}
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			sys := &threadOf{fake: f, tid: i}
			for range rounds {
				c := NewCall(&Signal{sys: sys})
				owner[i].Lock()
				owner[i].call = c
				owner[i].Unlock()
				asked := make(chan struct{})
				go func() { defer close(asked); c.Ask(); c.Ask() }()
				for c.Enter() == nil {
					c.Leave()
					runtime.Gosched()
				}
				owner[i].Lock()
				owner[i].call = nil
				owner[i].Unlock()
				<-asked
			}
		})
	}
	wg.Wait()
}

// threadOf is a fake as seen by one thread.
type threadOf struct {
	*fake
	tid int
}

func (s *threadOf) thread() (int, bool) { return s.tid, false }
