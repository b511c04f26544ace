package interrupt

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestASetAsksAllItsMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		var s Set
		in, out, gone := f.call(), f.call(), f.call()
		s.Add(in)
		s.Add(out)
		s.Add(gone)
		s.Remove(gone)
		leave := section(t, in)
		time.AfterFunc(time.Second, func() { close(leave) })
		if err := s.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
		if !in.Asked() || !out.Asked() || gone.Asked() {
			t.Errorf("asked: %v, %v, %v", in.Asked(), out.Asked(), gone.Asked())
		}
		late := f.call()
		s.Add(late)
		if !late.Asked() {
			t.Error("who joins later is not asked")
		}
	})
}

func TestASetIsDoneWhenTheLastHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{waits: func() (bool, error) { return true, nil }}
		var s Set
		c := f.call()
		s.Add(c)
		leave := section(t, c)
		start := time.Now()
		time.AfterFunc(time.Minute, func() {
			close(leave)
			synctest.Wait()
			s.Remove(c)
		})
		if err := s.Interrupt(t.Context()); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if n := f.sends(); n != many {
			t.Errorf("%d signals", n)
		}
	})
}

func TestASetIsWatchedOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		var s Set
		ctx, cancel := context.WithCancel(t.Context())
		defer s.Watch(ctx)()
		calls := make([]*Call, 10)
		for i := range calls {
			calls[i] = f.call()
			s.Add(calls[i])
		}
		cancel()
		synctest.Wait()
		for i, c := range calls {
			if err := c.Enter(); !errors.Is(err, ErrInterrupted) {
				t.Errorf("call %d: %v", i, err)
			}
			s.Remove(c)
		}
	})
}

// Remove must not return while a sender is at the call, which may be a new one
// right after.
func TestRemoveWaitsForTheSender(t *testing.T) {
	f := &fake{}
	var s Set
	c := f.call()
	f.onSend = func(int, int) {
		if s.mu.TryLock() {
			t.Error("may be removed while it is signalled")
			s.mu.Unlock()
		}
	}
	s.Add(c)
	enter(t, c)
	s.ask()
	c.Leave()
	s.Remove(c)
	c.Reset(c.sig)
	s.ask()
	if c.Asked() || f.sends() != 1 {
		t.Errorf("asked %v, %d signals", c.Asked(), f.sends())
	}
}

func TestAMemberIsOfOneSet(t *testing.T) {
	var s, other Set
	c := NewCall(nil)
	mustPanic(t, "not a member", func() { s.Remove(c) })
	s.Add(c)
	mustPanic(t, "two sets", func() { other.Add(c) })
	mustPanic(t, "another set", func() { other.Remove(c) })
	mustPanic(t, "reset of a member", func() { c.Reset(nil) })
	s.Remove(c)
}
