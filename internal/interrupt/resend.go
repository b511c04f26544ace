package interrupt

import (
	"context"
	"time"
)

// How long a sender waits before it sends again: firstWait, then twice as long
// each time up to longWait, or up to slowWait where signals do not seem to help.
// The timers of a process that does nothing else are late by up to a millisecond.
const (
	firstWait = 50 * time.Microsecond
	longWait  = 10 * time.Millisecond
	slowWait  = time.Second
)

// nextWait is the wait that follows one of d.
func nextWait(d time.Duration, slow bool) time.Duration {
	if slow {
		return min(2*d, slowWait)
	}
	return min(2*d, longWait)
}

// resend asks until there is nobody left to ask, or ctx ends. ask returns nil if
// so, else a channel that is closed when it is so.
func resend(ctx context.Context, ask func() (left <-chan struct{}, slow bool)) error {
	var timer *time.Timer
	for wait := firstWait; ; {
		left, slow := ask()
		if left == nil {
			return nil
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-left:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		wait = nextWait(wait, slow)
	}
}

// watch runs end, which may take long, when ctx ends.
func watch(ctx context.Context, end func()) (stop func() bool) {
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, end)
}
