package shape

import (
	"context"
	"fmt"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// transactions are calls that have a resource to themselves. There are as many
// slots as resources at most, so that a peer without a bound over all of its
// resources is bounded all the same.
func transactions() []Shape {
	var shapes []Shape
	for _, resources := range []int{1, 8} {
		for _, callers := range []int{1, 8, 64, 1024} {
			shapes = append(shapes, Shape{
				Name: fmt.Sprintf("tx-%d-%d", resources, callers), Group: "transactions",
				About: fmt.Sprintf("resources: %d, callers: %d; a transaction counts up", resources, callers),
				Slots: 8, Callers: callers, Resources: resources, Needs: peer.Transacts,
				run: (*run).transact,
			})
		}
	}
	return append(shapes, Shape{
		Name: "churn", Group: "transactions", About: "8 callers: a new resource, one transaction on it, and it is given up",
		Slots: 8, Callers: 8, Needs: peer.Churns,
		run: func(r *run) error {
			p := r.p.(peer.Churner) //nolint:errcheck // the shape needs peer.Churns
			return r.same(r.shape.Callers, func(int) caller {
				return r.stepping(func() error {
					_, err := p.Churn(context.Background(), countUp)
					return err
				})
			})
		},
	})
}

func (r *run) transact() error {
	return r.same(r.shape.Callers, func(i int) caller { return r.transacting(context.Background(), countUp, i) })
}

func countUp(_ context.Context, res *peer.Resource) (int, error) {
	res.N++
	return res.N, nil
}
