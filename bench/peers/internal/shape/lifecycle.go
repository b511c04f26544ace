package shape

import (
	"context"
	"errors"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// lifecycle is what a peer costs that is used once.
func lifecycle() []Shape {
	return []Shape{{
		Name: "lifecycle", Group: "lifecycle", About: "a new peer, one empty call, close",
		Slots: 4, Callers: 1, Needs: peer.Calls, Own: true,
		run: func(r *run) error {
			c := r.shape.config()
			return r.loop(r.stepping(func() error {
				p, err := r.mk.New(c)
				if err != nil {
					return err
				}
				_, err = p.Call(context.Background(), nothing)
				return errors.Join(err, p.Close())
			}))
		},
	}}
}
