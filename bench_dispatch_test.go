package iolane_test

// What one call costs that does nothing.

import (
	"context"
	"errors"
	"testing"
)

// BenchmarkDispatch: one call that does nothing: with a background and with a
// cancellable context, returning an error, from all processors at once.
func BenchmarkDispatch(b *testing.B) {
	bg := context.Background()
	cancellable, cancel := context.WithCancel(bg)
	defer cancel()
	fail := errors.New("no")
	for _, w := range []struct {
		name string
		ctx  context.Context
		fn   func() error
	}{
		{"success", bg, func() error { return nil }},
		{"cancellable", cancellable, func() error { return nil }},
		{"failure", bg, func() error { return fail }},
	} {
		b.Run(w.name, func(b *testing.B) {
			each(b, bounded(4), nil, func(b *testing.B, x executor) {
				for b.Loop() {
					_ = x.call(w.ctx, w.fn)
				}
			})
		})
	}
	b.Run("parallel", func(b *testing.B) {
		each(b, bounded(8), nil, func(b *testing.B, x executor) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_ = x.call(bg, func() error { return nil })
				}
			})
		})
	})
}
