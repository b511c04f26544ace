package iolane_test

// What results cost, beside calls that have none.

import (
	"context"
	"errors"
	"testing"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// refusal is an error with contents, as services return them.
type refusal struct {
	code    int
	message string
	details map[string]string
}

func (r *refusal) Error() string { return r.message }

// BenchmarkResult: one call that returns a kibibyte as a slice or as a value, or an
// error with contents.
func BenchmarkResult(b *testing.B) {
	b.Run("1KiB-slice", func(b *testing.B) {
		results(b, func() ([]byte, error) { return make([]byte, 1024), nil })
	})
	b.Run("1KiB-value", func(b *testing.B) {
		results(b, func() ([1024]byte, error) { return [1024]byte{1}, nil })
	})
	b.Run("error", func(b *testing.B) {
		results(b, func() (int, error) {
			return 0, &refusal{42, "no such thing", map[string]string{"name": "thing", "store": "main"}}
		})
	})
}

func results[T any](b *testing.B, fn func() (T, error)) {
	ctx := context.Background()
	_, want := fn()
	check := func(b *testing.B, call func() (T, error)) {
		b.ReportAllocs()
		var err error
		for b.Loop() {
			_, err = call()
		}
		if (err == nil) != (want == nil) {
			b.Fatal(err)
		}
		if _, ok := errors.AsType[*refusal](err); want != nil && !ok {
			b.Fatal("the error is lost: ", err)
		}
	}
	b.Run("bare", func(b *testing.B) { check(b, fn) })
	b.Run("goroutine", func(b *testing.B) {
		type result struct {
			v   T
			err error
		}
		check(b, func() (T, error) {
			c := make(chan result, 1)
			go func() {
				v, err := fn()
				c <- result{v, err}
			}()
			r := <-c
			return r.v, r.err
		})
	})
	b.Run("semaphore", func(b *testing.B) {
		sem := make(chan struct{}, 4)
		check(b, func() (v T, err error) {
			select {
			case sem <- struct{}{}:
			case <-ctx.Done():
				return v, ctx.Err()
			}
			defer func() { <-sem }()
			return fn()
		})
	})
	for _, s := range []struct {
		name string
		lane lane.Lane
	}{
		{"threads", must(lane.NewThreads(lane.Config{Workers: 4}))},
		{"sharded", must(lane.NewSharded(lane.ShardedConfig{Shards: 4, Config: lane.Config{Workers: 1}}))},
		{"inline", lane.NewInline("")},
	} {
		b.Run(s.name, func(b *testing.B) {
			p := must(pool.New(pool.Config[struct{}]{Lane: s.lane}))
			defer p.Close()
			check(b, func() (T, error) {
				return pool.Run(ctx, p, func(context.Context) (T, error) { return fn() })
			})
		})
		if err := s.lane.Shutdown(ctx); err != nil {
			b.Error(err)
		}
	}
}
