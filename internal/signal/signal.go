// Package signal is how a goroutine of iolane sleeps and is woken.
//
// A [Parker] is one sleeper. Wake-ups are edges, not levels: the owner of a
// Parker posts one token for each transition that concerns the sleeper, and the
// sleeper takes the token. The law, which the owner keeps and the tests of this
// package and of lanegate check:
//
//   - None is lost. A token posted before the sleeper parks waits for it, since
//     the channel holds one. So "decide under the lock, unlock, then sleep" is
//     safe: a Wake that falls in between is found on arrival.
//   - None is too many. Between two tokens taken there is at most one posted.
//     The owner remembers, under its lock, that a token is on its way and posts
//     no second; Wake panics when that is broken, since a surplus token would
//     end some later, unrelated sleep.
//
// A [Latch] is an event that happens once and that any number may wait for.
//
// There is no worker to wake in the common lanes (the caller runs its own call),
// so this package holds no queue: lanegate keeps the order, signal only the sleep.
package signal

import (
	"sync"
	"time"
)

// Reason says why a sleep ended.
type Reason uint8

// Why a sleep ended. When several hold at once any of them may be reported: the
// sleeper looks again under its lock.
const (
	Woken   Reason = iota + 1 // a token was taken
	Done                      // the done channel was closed
	Expired                   // the timer fired
)

// Parker is the sleep of one goroutine at a time. Use [NewParker].
type Parker struct {
	token chan struct{} // capacity one; posted by Wake, taken by the sleeper; never closed
}

// NewParker returns a Parker without a token.
func NewParker() Parker { return Parker{token: make(chan struct{}, 1)} }

// Wake posts the token. It never blocks and must not be called while an earlier
// token has not been taken: that is a bug of the owner, and panics.
func (p Parker) Wake() {
	select {
	case p.token <- struct{}{}:
	default:
		panic("signal: woken twice")
	}
}

// Take sleeps until there is a token and takes it.
func (p Parker) Take() { <-p.token }

// Sleep parks until there is a token, done is closed or expired delivers. Only
// for Woken has the token been taken. A nil channel never ends the sleep.
func (p Parker) Sleep(done <-chan struct{}, expired <-chan time.Time) Reason {
	if done == nil && expired == nil {
		<-p.token
		return Woken
	}
	return p.sleep(done, expired)
}

// sleep is apart, so that those who wait for nothing else have small stacks.
//
//go:noinline
func (p Parker) sleep(done <-chan struct{}, expired <-chan time.Time) Reason {
	select {
	case <-p.token:
		return Woken
	case <-done:
		return Done
	case <-expired:
		return Expired
	}
}

// Latch is an event that happens once. The zero Latch is ready and has not
// fired. It must not be copied after first use.
type Latch struct {
	mu    sync.Mutex
	done  chan struct{} // made when somebody waits; closed by Fire, once
	fired bool
}

// Fire makes the event happen; later calls do nothing. What happened before Fire
// is seen by whoever received from Done or saw Fired.
func (l *Latch) Fire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fired {
		return
	}
	l.fired = true
	if l.done != nil {
		close(l.done)
	}
}

// Fired reports whether the event has happened.
func (l *Latch) Fired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fired
}

// Done returns a channel that is closed when the event has happened.
func (l *Latch) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.fired {
			close(l.done)
		}
	}
	return l.done
}
