package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestEvictRefusesOneOwnersCallersInTheRoom(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 2, Waiters: 4, Patience: patience})
		runner := come(t, g, Request{Owner: 1})
		queued := []*caller{come(t, g, Request{Owner: 1}), come(t, g, Request{Owner: 2})}
		one := []*caller{come(t, g, Request{Owner: 1}), nil}
		two := []*caller{come(t, g, Request{Owner: 2}), nil}
		one[1], two[1] = come(t, g, Request{Owner: 1}), come(t, g, Request{Owner: 2})
		g.Evict(1)
		synctest.Wait()
		must(t, Closed, one...)
		must(t, 0, append(queued, two...)...)
		late := come(t, g, Request{Owner: 1}) // the gate itself stays open
		serve(t, runner, queued[0], queued[1], two[0], two[1], late)
		empty(t, g)
	})
}

// What is refused is the wait, until Forget; duty is not.
func TestNobodyWaitsForAnOwnerWithoutTickets(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patience})
		runner := come(t, g, Request{Owner: 1})
		g.tickets.Evict(1)
		must(t, Closed, come(t, g, Request{Owner: 1}), come(t, g, Request{Owner: 1, Urgent: true}), come(t, g, Request{Owner: 1, NoWait: true}))
		line := []*caller{come(t, g, Request{Owner: 1, Must: true}), come(t, g, Request{Owner: 2}), come(t, g, Request{})}
		g.tickets.Forget(1)
		line = append(line, come(t, g, Request{Owner: 1}))
		serve(t, runner, line...)
		if n := g.Stats().Refused[Closed]; n != 3 {
			t.Errorf("%d refused, want 3", n)
		}
		empty(t, g)
	})
}
