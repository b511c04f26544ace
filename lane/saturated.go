package lane

import (
	"slices"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// refuse says why a call must not even wait: what it names is held by a call that was
// left, or such calls hold every slot. The owner's duties are not refused.
func (l *Abandoning) refuse(c *Call) error {
	if !l.sees(c) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.holds(c); err != nil {
		return err
	}
	if c.Urgent && l.barred[1] || !c.Urgent && l.barred[0] {
		l.stuck.Add(1)
		return ioerr.ErrSaturated
	}
	return nil
}

// stuckOn says why a call must not start: what it names is held by a call that was left.
func (l *Abandoning) stuckOn(c *Call) error {
	if !l.sees(c) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holds(c)
}

// sees reports whether calls that were left can matter to a call.
func (l *Abandoning) sees(c *Call) bool {
	return l.leftNow.Load() != 0 && !c.Must && !l.gates[0].Closed()
}

// holds is the refusal of a call that names what as many left calls hold as may. mu is
// held.
func (l *Abandoning) holds(c *Call) error {
	now := l.now()
	count := func(most int, err error, same func(*carried) bool) error {
		n := 0
		for _, k := range l.left {
			if same(k) {
				if n++; n == most {
					l.stuck.Add(1)
					return &ioerr.StuckError{Label: k.info.Label, Age: time.Duration(now - k.began), Err: err}
				}
			}
		}
		return nil
	}
	if c.Handle != 0 {
		if err := count(l.rules.LeftPerHandle, ioerr.ErrHandleBusy, func(k *carried) bool { return k.info.Handle == c.Handle && k.owner == c.Owner }); err != nil {
			return err
		}
	}
	if c.Key != "" {
		return count(l.rules.LeftPerKey, ioerr.ErrKeyBusy, func(k *carried) bool { return k.info.Key == c.Key })
	}
	return nil
}

// judge finds out for whom every slot is kept by a call that was left, after a change of
// what is kept or of the slots: they are told (ErrSaturated) instead of waiting for what
// may never end, those in line now, and newcomers until it has changed again. mu is held.
//
// A slot that is not kept comes free some day, since its call ends or is left. So nobody
// waits in vain: whoever comes into line after the gate was barred is refused by the
// gate itself (see [lanegate.Gate.Bar]), and mu keeps the bar true to what is kept. Who
// waits for a key waits for the one who has it, who runs or is in line, and so is told
// in his turn; a left call has none, also if it keeps its slot.
func (l *Abandoning) judge() {
	none := l.kept[0] >= l.slots-l.reserved
	barred := [2]bool{none, none && l.kept[1] >= l.reserved}
	if barred == l.barred {
		return
	}
	l.barred = barred
	if none {
		l.gates[0].Bar(barred[1])
	} else {
		l.gates[0].Unbar()
	}
}

// kind is the index in kept for a slot.
func kind(s Slot) int {
	if s.at.Reserved() {
		return 1
	}
	return 0
}

// stopKeeping gives a slot to others when a call that was left has ended: its own, if it
// keeps that; else its place in the budget is free for the oldest that does. mu is held.
func (l *Abandoning) stopKeeping(k *carried) {
	if l.kept == [2]int{} {
		return
	}
	if !k.keeps {
		k = l.left[slices.IndexFunc(l.left, func(k *carried) bool { return k.keeps })]
	}
	k.keeps = false
	l.kept[kind(k.slot)]--
	l.judge()
	l.Leave(k.slot)
}
