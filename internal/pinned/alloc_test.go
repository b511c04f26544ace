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
	for name, f := range map[string]func(){
		"Run":      func() { _ = s.Run(ctx, nothing{}) },
		"RunBatch": func() { _, _ = s.RunBatch(ctx, batch) },
	} {
		if n := testing.AllocsPerRun(500, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
