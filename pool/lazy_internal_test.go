package pool

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/ioerr"
)

// A lazy context is alive until it ends, and never misses its end, whether it was asked
// for before or after it, and whatever of it was asked for.
func TestLazyContextNeverMissesItsEnd(t *testing.T) {
	ask := map[string]func(*lazyContext){
		"nothing": func(*lazyContext) {},
		"done":    func(l *lazyContext) { l.Done() },
		"err": func(l *lazyContext) {
			if err := l.Err(); err != nil {
				t.Error(err)
			}
		},
		"value":    func(l *lazyContext) { l.Value("x") },
		"deadline": func(l *lazyContext) { l.Deadline() },
	}
	for name, before := range ask {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lazyContext{cause: ioerr.ErrShutdown}
				before(l)
				l.end()
				l.end()
				<-l.Done()
				if l.Err() != context.Canceled || context.Cause(l) != ioerr.ErrShutdown {
					t.Errorf("%v, %v", l.Err(), context.Cause(l))
				}
			})
		})
	}
}

// Whoever derives from a lazy context needs no goroutine for that, and is told.
func TestLazyContextCanBeDerivedFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // reports a goroutine that is left
		l := &lazyContext{cause: ioerr.ErrShutdown}
		child, cancel := context.WithCancel(l)
		defer cancel()
		ran := false
		context.AfterFunc(l, func() { ran = true })
		if child.Err() != nil {
			t.Error(child.Err())
		}
		l.end()
		synctest.Wait()
		if !ran || context.Cause(child) != ioerr.ErrShutdown {
			t.Error(ran, context.Cause(child))
		}
	})
}

// Whoever makes it and whoever ends it at the same time: one of them cancels it.
func TestLazyContextMadeAndEndedAtOnce(t *testing.T) {
	for range 2000 {
		l := &lazyContext{cause: ioerr.ErrShutdown}
		go l.end()
		<-l.Done()
	}
}

// Whoever asks after end has returned finds it ended, also while somebody else is in the
// middle of making it.
func TestLazyContextHasEndedOnceEndHasReturned(t *testing.T) {
	for range 2000 {
		l := &lazyContext{cause: ioerr.ErrShutdown}
		go l.Done()
		l.end()
		if l.Err() == nil {
			t.Fatal("alive")
		}
	}
}
