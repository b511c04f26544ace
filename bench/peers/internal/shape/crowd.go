package shape

import (
	"context"
	"runtime"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// crowd is many callers in closed loops over few slots.
func crowd() []Shape {
	const group = "crowd"
	all := func(r *run, fn peer.Func) error {
		return r.same(r.shape.Callers, func(int) caller { return r.plain(context.Background(), fn, false) })
	}
	return []Shape{
		{
			Name: "loop-64", Group: group, About: "64 callers over 4 slots, empty call",
			Slots: 4, Callers: 64, Needs: peer.Calls,
			run: func(r *run) error { return all(r, nothing) },
		},
		{
			Name: "loop-64-yield", Group: group, About: "64 callers over 4 slots, the call yields the processor",
			Slots: 4, Callers: 64, Needs: peer.Calls,
			run: func(r *run) error {
				return all(r, func(context.Context) (int, error) { runtime.Gosched(); return 0, nil })
			},
		},
		{
			Name: "loop-64-2us", Group: group, About: "64 callers over 4 slots, 2 us of processor time",
			Slots: 4, Callers: 64, Work: 2 * time.Microsecond, Needs: peer.Calls,
			run: func(r *run) error { return all(r, r.work()) },
		},
	}
}

// work is a call that takes the shape's processor time.
func (r *run) work() peer.Func {
	steps := r.steps(r.shape.Work)
	return func(context.Context) (int, error) { return spin(steps), nil }
}
