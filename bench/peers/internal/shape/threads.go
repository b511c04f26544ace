package shape

import (
	"context"
	"fmt"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// threads is a crowd that blocks: how many threads does it get?
func threads() []Shape {
	var shapes []Shape
	for _, slots := range []int{8, 64} {
		shapes = append(shapes, Shape{
			Name: fmt.Sprintf("threads-%d", slots), Group: "threads",
			About: fmt.Sprintf("10,000 callers at once in nanosleep of 5 ms, limit %d", slots),
			Slots: slots, Callers: 10_000, Needs: peer.Calls, Stamped: true, Once: true,
			run: func(r *run) error {
				return r.burst(r.few(r.shape.Callers, 40), func(context.Context) (int, error) {
					return 0, nanosleep(5 * time.Millisecond)
				})
			},
		})
	}
	return shapes
}
