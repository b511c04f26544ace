package registry_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
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
