package shape

import (
	"context"
	"errors"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// mixed is short calls beside long ones that block. Only the short ones are
// measured.
func mixed() []Shape {
	const group = "mixed"
	const short = time.Microsecond
	return []Shape{
		{
			Name: "short", Group: group, About: "8 callers over 4 slots, 1 us of processor time: what the next shape compares with",
			Slots: 4, Callers: 8, Work: short, Needs: peer.Calls,
			run: func(r *run) error { return r.beside(0, 0) },
		},
		{
			Name: "short-long", Group: group, About: "the same while a ninth caller makes calls that block for 10 ms",
			Slots: 4, Callers: 8, Others: 1, Work: short, Needs: peer.Calls,
			run: func(r *run) error { return r.beside(1, 10*time.Millisecond) },
		},
		{
			Name: "imbalance", Group: group, About: "12 callers over 8 slots, 1 us, while 4 more block half of the slots for 1 ms at a time",
			Slots: 8, Callers: 12, Others: 4, Work: short, Needs: peer.Calls,
			run: func(r *run) error { return r.beside(4, time.Millisecond) },
		},
	}
}

// beside measures calls of the shape's work beside n callers whose calls block for d.
func (r *run) beside(n int, d time.Duration) error {
	stop := r.background(n, func(context.Context) (int, error) { return 0, nanosleep(d) })
	fn := r.work()
	err := r.same(r.shape.Callers, func(int) caller { return r.plain(context.Background(), fn, false) })
	return errors.Join(err, stop())
}
