package peer

import (
	"context"
	"sync"
)

// task is a call on its way to the goroutine that will run it.
type task struct {
	ctx context.Context //nolint:containedctx // it goes with its call from the caller to the worker
	fn  Func
	out chan outcome // has room for one
}

func (t *task) run() {
	v, err := t.fn(t.ctx)
	t.out <- outcome{v, err}
}

// tasks is a pool of tasks with their channels.
type tasks struct{ pool sync.Pool }

func (p *tasks) get(ctx context.Context, fn Func) *task {
	t, ok := p.pool.Get().(*task)
	if !ok {
		t = &task{out: make(chan outcome, 1)}
	}
	t.ctx, t.fn = ctx, fn
	return t
}

// put takes back a task whose channel is empty, and which nobody else holds.
func (p *tasks) put(t *task) {
	t.ctx, t.fn = nil, nil
	p.pool.Put(t)
}
