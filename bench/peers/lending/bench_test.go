package main

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkLending is one borrowing after the other, for the processor's profile.
func BenchmarkLending(b *testing.B) {
	for _, m := range makers(0) {
		for _, size := range []int{8, 512} {
			b.Run(fmt.Sprintf("%s/%d", m.name, size), func(b *testing.B) {
				l, err := m.make(size)
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				b.ReportAllocs()
				use := func(_ context.Context, c *conn) error { c.uses++; return nil }
				for b.Loop() {
					if err := l.with(ctx, use); err != nil {
						b.Fatal(err)
					}
				}
				if err := l.close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
