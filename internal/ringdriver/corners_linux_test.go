package ringdriver

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

func openDriver(t testing.TB, slots int) *Driver {
	d, err := New(Config{Slots: slots})
	require.NoError(t, err)
	return d
}

// within fails the test if fn takes long.
func within(t testing.TB, what string, fn func()) {
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("hangs: " + what)
	}
}

func TestAFiberWhoseOperationsAreRefusedAtOnceHoldsNobodyUp(t *testing.T) {
	d := openDriver(t, 4)
	var over atomic.Bool
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	within(t, "another operation", func() {
		var all sync.WaitGroup
		begun := make(chan struct{})
		all.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) {
				close(begun)
				for !over.Load() {
					On(ctx).Do(dead, &fileop.Op{})
				}
			})
		})
		<-begun
		d.Do(context.Background(), &fileop.Op{})
		over.Store(true)
		all.Wait()
	})
	require.NoError(t, d.Close(context.Background()))
	require.Less(t, cap(d.ready), 100)
}
