package lane

import (
	"context"
	"slices"
	"time"
)

// tell reports the late end of a call that was left.
func (l *Abandoning) tell(k *carried) {
	if l.rules.OnLate == nil {
		return
	}
	defer func() {
		if recover() != nil {
			l.late.Add(1)
		}
	}()
	info := k.info
	info.Age = time.Duration(l.now() - k.began)
	l.rules.OnLate(info)
}

// Stats implements [Lane]. A call that was left counts as completed, and is in Left.
func (l *Abandoning) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	turned := l.turned.Load() // before the gate, which has counted each of them already, or is about to
	s := l.gated.Stats()
	s.Started -= min(turned, s.Completed)
	s.Accepted -= min(turned, s.Completed)
	s.Submitted -= min(turned, s.Completed)
	s.Completed -= min(turned, s.Completed)
	s.CallbackPanics += l.late.Load()
	n := l.stuck.Load()
	s.Refused.Stuck += n
	s.Submitted += n
	now := l.now()
	s.LeftTotal = l.total
	for _, k := range l.left {
		info := k.info
		info.Age, info.KeepsSlot = time.Duration(now-k.began), k.keeps
		s.Left = append(s.Left, info)
	}
	return s
}

// Drain implements [Gated]. It waits for calls that were left, too.
func (l *Abandoning) Drain(ctx context.Context) error {
	if err := l.gated.Drain(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	if len(l.left)+l.tails == 0 {
		l.mu.Unlock()
		return nil
	}
	if !l.gone.Wait(ctx, &l.mu) {
		return ctx.Err()
	}
	return nil
}

// rest gives back what a lane that was shut down needs no more.
func (l *Abandoning) rest() {
	l.share.Release()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		l.watch.Stop()
	}
	if l.signal != nil {
		l.signal.Release()
	}
}

// Shutdown implements [Lane]. It waits for calls that were left, too: until they end,
// or ctx does.
func (l *Abandoning) Shutdown(ctx context.Context) error {
	if err := l.stop(ctx); err != nil {
		return err
	}
	if err := l.Drain(ctx); err != nil {
		return err
	}
	l.rest()
	return nil
}

// carriedList is the calls that run, the oldest first.
type carriedList struct{ head, tail *carried }

func (l *carriedList) pushBack(k *carried) {
	k.listed, k.prev = true, l.tail
	if l.tail == nil {
		l.head = k
	} else {
		l.tail.next = k
	}
	l.tail = k
}

// remove takes a call out of the list, if it is in it.
func (l *carriedList) remove(k *carried) {
	if !k.listed {
		return
	}
	if k.prev == nil {
		l.head = k.next
	} else {
		k.prev.next = k.next
	}
	if k.next == nil {
		l.tail = k.prev
	} else {
		k.next.prev = k.prev
	}
	k.listed, k.prev, k.next = false, nil, nil
}

func deleteCall(calls []*carried, k *carried) []*carried {
	return slices.DeleteFunc(calls, func(c *carried) bool { return c == k })
}
