//go:build !linux

package pool_test

import (
	"testing"
	"time"
)

// Elsewhere the tests block their goroutines only; what they say about the pool
// stays the same.

func nap(d time.Duration) { time.Sleep(d) }

type barrier struct {
	opened, reached chan struct{}
}

func newBarrier(testing.TB) *barrier {
	return &barrier{make(chan struct{}), make(chan struct{}, 1<<14)}
}

func (b *barrier) stay() {
	b.reached <- struct{}{}
	<-b.opened
}

func (b *barrier) open() { close(b.opened) }
