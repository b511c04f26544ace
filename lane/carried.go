package lane

import (
	"cmp"
	"context"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// carried is one call that Abandoning runs. Its state is decided under the lane's
// mutex, so the caller that would leave and the goroutine that has ended see one
// order:
//
//	running ──ended──> ending ──Task.End──> over     the caller returns, the call's own
//	   │                                             result is what happened
//	   └──left──> left ──ended──> (nobody's)         the caller has returned already
//
// A token is posted by the watch (overdue) or by the end (over), never two at a time:
// posted says that one is on its way. The caller looks at the state when it has taken it.
//
// Each call has a new goroutine. One that was kept for the next call would carry over to
// that what this one did to it (runtime.LockOSThread, labels), would stand by in an idle
// lane, and would save an empty call about a tenth: waking it costs what making one does.
type carried struct {
	signal.Parker
	start func() // run, as a value: a go statement of a method would allocate one each time

	lane *Abandoning
	ctx  context.Context //nolint:containedctx // the caller's
	done <-chan struct{} // of ctx
	task Task
	slot Slot
	info LeftCall

	owner      uint64          // Call.Owner: handles of several owners may be equal
	thread     *interrupt.Call // of the call, to be interrupted; nil if it is not to be
	entered    chan struct{}   // closed when thread can be interrupted
	state      carriedState
	began      int64 // on the lane's clock
	overdue    bool  // the caller has been told to leave
	cause      error // why
	posted     bool  // a token is on its way
	keeps      bool  // left, and keeps its slot
	listed     bool  // in the lane's list of running calls
	next, prev *carried
}

type carriedState uint8

const (
	running carriedState = iota
	ending
	over
	left
)

func newCarried() *carried {
	k := &carried{Parker: signal.NewParker()}
	k.start = k.run
	return k
}

// run is the goroutine of the call.
func (k *carried) run() {
	defer k.lane.end(k) // also if the call ends its goroutine
	if k.thread != nil {
		_ = k.thread.Enter() // nobody asks it to end before entered is closed
		close(k.entered)
		defer k.thread.Leave()
	}
	k.task.Run(Thread{})
}

// Wait implements [Started]. It waits for the end of the call, or leaves it: when its
// context or the limit has ended, and then the grace.
//
// Nothing of the caller's is called here that could panic: the call runs, and what it
// holds is not the caller's to give back any more.
func (k *carried) Wait() error {
	l, ctx, done := k.lane, k.ctx, k.done
	var (
		grace *time.Timer
		over  <-chan time.Time
		cause error // why the caller leaves
	)
	defer func() {
		if grace != nil {
			grace.Stop()
		}
	}()
	for {
		switch k.Sleep(done, over) {
		case signal.Woken:
			isOver, isOverdue, why := l.woken(k)
			if isOver {
				l.recycle(k)
				return nil
			}
			if !isOverdue || grace != nil {
				continue
			}
			cause = why
		case signal.Done:
			cause = causeOf(ctx)
		case signal.Expired:
			return l.leave(k, cause)
		}
		if l.rules.Grace == 0 {
			k.task.Ending(cause)
			return l.leave(k, cause)
		}
		grace = time.NewTimer(l.rules.Grace)
		done, over = nil, grace.C
		k.task.Ending(cause)
		l.interrupt(k)
	}
}

// causeOf is the cause of a context that has ended, also of one that panics.
func causeOf(ctx context.Context) (cause error) {
	defer func() {
		if recover() != nil {
			cause = context.Canceled
		}
	}()
	return cmp.Or(context.Cause(ctx), context.Canceled)
}

// interrupt interrupts the call, if that was asked for, again and again until it has
// ended or the grace has.
func (l *Abandoning) interrupt(k *carried) {
	if k.thread == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.rules.Grace)
	defer cancel()
	select {
	case <-k.entered:
	case <-ctx.Done():
		return
	}
	_ = k.thread.Interrupt(ctx) // that it does not end is seen by its caller, who leaves it
}

// woken is the state of a call whose caller has taken a token.
func (l *Abandoning) woken(k *carried) (isOver, isOverdue bool, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k.posted = false
	return k.state == over, k.overdue && k.state == running, k.cause
}

// leave leaves a call running, unless it has ended in the meantime: then it waits for
// its last steps.
func (l *Abandoning) leave(k *carried, cause error) error {
	l.mu.Lock()
	if k.state != running {
		l.mu.Unlock()
		for isOver := false; !isOver; { // the first token may be that of the watch
			k.Take()
			isOver, _, _ = l.woken(k)
		}
		l.recycle(k)
		return nil
	}
	age := time.Duration(l.now() - k.began)
	k.state = left
	k.info.Age = age
	k.keeps = len(l.left)-l.kept[0]-l.kept[1] >= l.rules.Left
	if k.keeps {
		l.keys.release(&k.slot) // whoever waits for the key is told
		k.slot.key = nil
		l.kept[kind(k.slot)]++
		l.judge()
	}
	l.left = append(l.left, k)
	l.leftNow.Add(1)
	l.total++
	l.running.remove(k)
	k.task.Left(age)
	if !k.keeps {
		l.Leave(k.slot) // here, so that no snapshot counts it twice
	}
	l.mu.Unlock()
	return &ioerr.LeftError{Age: age, Cause: cause}
}

// recycle keeps what is left of a call that is over and whose token was taken.
func (l *Abandoning) recycle(k *carried) {
	*k = carried{Parker: k.Parker, start: k.start}
	l.cache.Put(k)
}

// end is what the goroutine of a call does when that has ended.
func (l *Abandoning) end(k *carried) {
	l.mu.Lock()
	l.running.remove(k)
	wasLeft := k.state == left
	l.tails++
	if wasLeft {
		l.left = deleteCall(l.left, k)
		l.leftNow.Add(-1)
		l.stopKeeping(k)
	} else {
		k.state = ending
	}
	l.mu.Unlock()
	defer l.over(k, wasLeft) // also if a hook ends the goroutine
	if !wasLeft {
		l.Leave(k.slot)
	}
	k.task.End(wasLeft, nil)
	if wasLeft {
		l.tell(k)
	}
}

// over is the very end of a call: nothing of it is left but the caller that receives it.
func (l *Abandoning) over(k *carried, wasLeft bool) {
	l.mu.Lock()
	if l.tails--; len(l.left)+l.tails == 0 {
		l.gone.WakeAll()
	}
	post := !wasLeft && !k.posted
	if !wasLeft {
		k.state, k.posted = over, true
	}
	l.mu.Unlock()
	if post {
		k.Wake()
	}
}
