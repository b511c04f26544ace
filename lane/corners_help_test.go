package lane_test

import (
	"context"
)

type lateEnd struct {
	job
	gate, reached chan struct{}
}

func (j *lateEnd) End(left bool, err error) { close(j.reached); <-j.gate; j.job.End(left, err) }

type errPanics struct {
	context.Context
	n *int
}

func (c errPanics) Err() error {
	if *c.n--; *c.n == 0 {
		panic("Err")
	}
	return c.Context.Err()
}
