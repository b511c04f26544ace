package registry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// line is three waiters for one resource. Whoever is lent it keeps it until the
// end, so that nothing is passed on but what a dead waiter has to pass on.
type line struct {
	cancel [3]context.CancelFunc
	lent   chan int // who is lent the resource
	finish chan struct{}
}

func (w *world) queue(id handle.ID) *line {
	q := &line{lent: make(chan int, 3), finish: make(chan struct{})}
	for i := range q.cancel {
		var ctx context.Context
		ctx, q.cancel[i] = context.WithCancel(context.Background())
		go func() {
			l, err := w.acquire(ctx, id, lanegate.Request{})
			if err != nil {
				return
			}
			q.lent <- i
			<-q.finish
			w.release(l)
		}()
		synctest.Wait()
	}
	return q
}

// kill cancels the waiters whose bit is set.
func (q *line) kill(dead int) {
	for i, cancel := range q.cancel {
		if dead>>i&1 != 0 {
			cancel()
		}
	}
}

// Law: a grant that meets a cancelled waiter is passed on to the first in line that
// lives; without one the resource is free. Nothing is granted to a dead waiter.
// I-19, I-22 to I-24.
func TestAGrantThatMeetsACancelledWaiterIsPassedOn(t *testing.T) {
	for name, patience := range patiences {
		for dead := range 1 << 3 {
			for _, killFirst := range []bool{true, false} {
				t.Run(fmt.Sprintf("patience %s, dead %03b, killed first %t", name, dead, killFirst), func(t *testing.T) {
					explore(t, func(t *testing.T) ([]script, func()) {
						w := &world{Registry: registry.New[*thing](3, patience), t: t}
						id := w.insert()
						l := w.hold(id)
						q := w.queue(id)
						s := script{{"grant", func() { w.release(l) }}, {"kill", func() { q.kill(dead) }}}
						if killFirst {
							s[0], s[1] = s[1], s[0]
						}
						return []script{s}, func() {
							q.check(t, dead, killFirst)
							close(q.finish)
							synctest.Wait()
							w.release(w.hold(id)) // it is free
							q.kill(7)
							w.end()
						}
					})
				})
			}
		}
	}
}

// check looks at who was lent the resource first. The others have not been, since
// nobody has given it back.
func (q *line) check(t *testing.T, dead int, killFirst bool) {
	want := 0
	for want < 3 && dead>>want&1 != 0 {
		want++
	}
	select {
	case got := <-q.lent:
		if early := got == 0 && !killFirst; got != want && !early {
			t.Errorf("lent to %d, want %d", got, want)
		}
	default:
		if want < 3 {
			t.Errorf("lent to nobody, want %d", want)
		}
	}
	if len(q.lent) != 0 {
		t.Errorf("lent to %d more", len(q.lent))
	}
}

// The same when the resource is retired at that moment, so that there is nobody to
// pass it on to: the dead waiter inherits it, and does not use it. I-43.
func TestAGrantThatMeetsARetirementIsInheritedNotUsed(t *testing.T) {
	for name, patience := range patiences {
		for end, want := range map[string]error{"retire": context.Canceled, "close": ioerr.ErrShutdown} {
			t.Run(fmt.Sprintf("patience %s, %s", name, end), func(t *testing.T) {
				inherited := 0
				for tries := 0; inherited == 0 && tries < 20; tries++ {
					explore(t, func(t *testing.T) ([]script, func()) {
						w := &world{Registry: registry.New[*thing](3, patience), t: t}
						return w.dying(end, func(l lease, err error) {
							if l.Entry != nil {
								inherited++
							}
							if l.Entry != nil && !errors.Is(err, want) || err == nil {
								t.Errorf("answer %v, want %v", err, want)
							}
						})
					})
				}
				if inherited == 0 && patience == strict { // else nothing is lent to who sleeps
					t.Error("it never came to that")
				}
			})
		}
	}
}

// dying is a waiter that is cancelled just before it is lent the resource, and the
// end of the resource just after that.
func (w *world) dying(end string, check func(lease, error)) ([]script, func()) {
	id := w.insert()
	l := w.hold(id)
	ctx, cancel := context.WithCancel(context.Background())
	var mine lease
	var err error
	go func() { mine, err = w.acquire(ctx, id, lanegate.Request{}) }()
	synctest.Wait()
	finish := map[string]func(){"retire": func() { w.retire(id) }, "close": func() { w.close() }}
	return []script{{{"kill", cancel}, {"grant", func() { w.release(l) }}, {end, finish[end]}}}, func() {
		check(mine, err)
		w.end()
	}
}
