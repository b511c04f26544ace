//go:build !race

package pinned

import (
	"context"
	"testing"
)

type nothing struct{}

func (nothing) Run(*Thread) {}

func TestHandOverAllocatesNothing(t *testing.T) {
	s := open(t, Config{Threads: 1})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	batch := make([]Task, 16)
	for i := range batch {
		batch[i] = nothing{}
	}
	for _, tasks := range [][]Task{batch[:1], batch} {
		if n := testing.AllocsPerRun(500, func() { _, _, _ = s.Hand(ctx, tasks, false) }); n != 0 {
			t.Errorf("%d tasks: %v allocations", len(tasks), n)
		}
	}
}
