package lend

import (
	"context"
	"slices"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
)

// tending is what looks after resources that nobody uses: one timer, which is set only while
// there is something to look after.
type tending struct {
	timer    *time.Timer
	due      int64 // when it goes off; never: it is not set
	failures int   // openings ahead of need, in a row
	pause    int64 // none before this
}

const (
	retry      = 10 * time.Millisecond  // after which a look that found no right is repeated
	firstPause = 100 * time.Millisecond // after an opening that failed; each is twice the one before
	mostPause  = time.Minute
)

// judge notes how an opening ahead of need went.
func (t *tending) judge(err error, now int64) {
	if err == nil {
		t.failures, t.pause = 0, 0
		return
	}
	t.pause = now + int64(min(firstPause<<min(t.failures, 16), mostPause))
	t.failures++
}

// schedule has look run at a time, if it would not anyway. mu is held.
func (l *Lender[R]) schedule(at int64) {
	t := &l.tend
	if at == never || l.closed || t.timer != nil && t.due <= at {
		return
	}
	t.due = at
	d := time.Duration(max(at-l.now(), 0))
	if t.timer == nil {
		t.timer = time.AfterFunc(d, l.look)
	} else {
		t.timer.Reset(d)
	}
}

// idleDue is when the first of the resources that are idle has been so for long enough. mu is
// held.
func (l *Lender[R]) idleDue() int64 {
	if d := l.config.IdleTime; d > 0 && len(l.idle) > l.config.MinIdle {
		return after(l.idle[0].since, d)
	}
	return never
}

// look closes what is old, and opens what is to be idle. To close one takes a right; if there
// is none, those who have them want what is idle.
func (l *Lender[R]) look() {
	l.mu.Lock()
	l.tend.due = never
	now := l.now()
	var old []*item
	due, again := int64(never), false
	for i := 0; i < len(l.idle) && !l.closed && !again; {
		it, why := l.idle[i], lifetimeReason
		switch {
		case now >= it.ends:
		case l.idleDue() <= now && i == 0:
			why = idleReason
		default:
			due = min(due, it.ends)
			i++
			continue
		}
		slot, v := l.gate.Acquire(context.Background(), &lanegate.Request{NoWait: true})
		if again = v != lanegate.Granted; again {
			break
		}
		it.seat = slot.Shard()
		l.idle = slices.Delete(l.idle, i, i+1)
		l.closes(why)
		old = append(old, it)
	}
	if due = min(due, l.idleDue()); again {
		due = now + int64(retry)
	}
	l.schedule(due)
	l.warmLocked()
	l.mu.Unlock()
	for _, it := range old {
		go l.destroy(it)
	}
}

// warm opens resources ahead of need.
func (l *Lender[R]) warm() {
	if l.config.MinIdle == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.warmLocked()
}

// warmLocked is warm where mu is held.
func (l *Lender[R]) warmLocked() {
	for !l.closed && len(l.idle)+l.ahead < l.config.MinIdle && l.existing < l.capacity {
		if l.tend.pause > l.now() {
			l.schedule(l.tend.pause)
			return
		}
		slot, v := l.gate.Acquire(context.Background(), &lanegate.Request{NoWait: true})
		if v != lanegate.Granted {
			return // whoever has a right gives it back, or opens one
		}
		l.ahead++
		l.opening++
		l.exist(+1)
		go l.opens(context.Background(), nil, slot, nil)
	}
}
