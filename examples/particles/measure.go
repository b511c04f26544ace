package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iolane/iolane/examples/internal/command"
	"github.com/iolane/iolane/examples/internal/lanes"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// row is one way to move particles.
type row struct {
	name    string
	workers int // 0: no pool
	// each has work done once on all particles, in ranges of them, and waits for it.
	each func(ctx context.Context, work func(from, to int)) error
	end  func() error

	moved, copied []time.Duration
}

// result is what came of a row: medians of its rounds.
type result struct {
	name          string
	workers       int
	moved, copied time.Duration
	sum           uint64
}

// measure moves the particles in each of the ways, which take turns.
func (o *options) measure(ctx context.Context) (results []result, err error) {
	rows, err := o.rows()
	defer func() {
		for _, r := range rows {
			err = errors.Join(err, r.end())
		}
	}()
	if err != nil {
		return nil, err
	}
	start := scatter(o.n)
	all := slices.Clone(start) // its pages are there before anything is measured
	results = make([]result, len(rows))
	for n := range o.rounds {
		for i, r := range rows {
			if err := o.round(ctx, r, all, start); err != nil {
				return nil, err
			}
			got := result{name: r.name, workers: r.workers, sum: sum(all)}
			if n+i > 0 && got.sum != results[0].sum {
				return nil, fmt.Errorf("%s: the particles are at %x, and should be at %x", got.name, got.sum, results[0].sum)
			}
			results[i] = got
		}
	}
	for i, r := range rows {
		results[i].moved, results[i].copied = command.Median(r.moved), command.Median(r.copied)
	}
	return results, nil
}

// round copies the particles from where they start, as often as they are moved then.
func (o *options) round(ctx context.Context, r *row, all, start []particle) error {
	copied, err := o.times(ctx, r, func(from, to int) { copy(all[from:to], start[from:to]) })
	if err != nil {
		return err
	}
	moved, err := o.times(ctx, r, func(from, to int) { move(all[from:to]) })
	r.moved, r.copied = append(r.moved, moved), append(r.copied, copied)
	return err
}

// times says how long it takes to do work once for each step.
func (o *options) times(ctx context.Context, r *row, work func(from, to int)) (time.Duration, error) {
	began := time.Now()
	for range o.steps {
		if err := r.each(ctx, work); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// rows makes a row without a pool, and one for each number of workers. They are to be ended,
// also if there is an error.
func (o *options) rows() (rows []*row, err error) {
	rows = append(rows, &row{
		name: "plain loop",
		each: func(_ context.Context, work func(from, to int)) error { work(0, o.n); return nil },
		end:  func() error { return nil },
	})
	for _, workers := range o.workers {
		r, err := o.pooled(workers)
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// pooled is a row on a lane of so many workers.
func (o *options) pooled(workers int) (*row, error) {
	l, err := lanes.New(o.lane, lane.Config{Workers: workers})
	if err != nil {
		return nil, err
	}
	p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	if err != nil {
		return nil, errors.Join(err, l.Shutdown(context.Background()))
	}
	g, err := p.Group(pool.GroupConfig{Limit: workers})
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	chunk := min(o.chunk, o.n)
	each := func(ctx context.Context, work func(from, to int)) error {
		for from := 0; from < o.n; from += chunk {
			to := min(from+chunk, o.n)
			err := g.Go(ctx, func(context.Context) error { work(from, to); return nil })
			if err != nil {
				return errors.Join(err, g.Wait(ctx))
			}
		}
		return g.Wait(ctx) // the step has ended everywhere
	}
	return &row{name: fmt.Sprintf("%s, %d", o.lane, workers), workers: workers, each: each, end: p.Close}, nil
}
