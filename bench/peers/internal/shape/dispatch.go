package shape

import (
	"context"
	"errors"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// dispatch is what a call costs that does nothing and need not wait.
func dispatch() []Shape {
	const group = "dispatch"
	errNo := errors.New("no")
	return []Shape{
		{
			Name: "dispatch", Group: group, About: "empty call, one caller, context.Background()",
			Slots: 4, Callers: 1, Needs: peer.Calls,
			run: func(r *run) error { return r.loop(r.plain(context.Background(), nothing, false)) },
		},
		{
			Name: "dispatch-ctx", Group: group, About: "empty call, one caller, cancellable context",
			Slots: 4, Callers: 1, Needs: peer.Calls,
			run: func(r *run) error {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				return r.loop(r.plain(ctx, nothing, false))
			},
		},
		{
			Name: "failure", Group: group, About: "the call returns an error",
			Slots: 4, Callers: 1, Needs: peer.Calls,
			run: func(r *run) error {
				return r.loop(r.plain(context.Background(), func(context.Context) (int, error) { return 0, errNo }, true))
			},
		},
		{
			Name: "capture", Group: group, About: "the call is a closure that captures a variable",
			Slots: 4, Callers: 1, Needs: peer.Calls,
			run: func(r *run) error {
				return r.loop(r.capturing(context.Background(), func(_ context.Context, n int) (int, error) { return n + 1, nil }, 1, 1<<20))
			},
		},
		{
			Name: "dispatch-16", Group: group, About: "the same, 16 calls handed over together",
			Slots: 4, Callers: 1, Needs: peer.Calls,
			run: func(r *run) error { return r.loop(r.batches(context.Background(), nothing, 16)) },
		},
		{
			Name: "dispatch-par", Group: group, About: "empty call, GOMAXPROCS callers, slots to spare",
			Slots: max(8, 2*procs()), Callers: procs(), Needs: peer.Calls,
			run: func(r *run) error {
				return r.same(r.shape.Callers, func(int) caller { return r.plain(context.Background(), nothing, false) })
			},
		},
	}
}
