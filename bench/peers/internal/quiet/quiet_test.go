package quiet

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAfterWaitEverybodyIsParked(t *testing.T) {
	const n = 100
	for range 20 {
		gate := make(chan struct{})
		var came atomic.Int64
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				came.Add(1)
				<-gate
			})
		}
		if err := Wait(); err != nil {
			t.Fatal(err)
		}
		if got := came.Load(); got != n {
			t.Fatalf("%d of %d goroutines had come", got, n)
		}
		close(gate)
		wg.Wait()
	}
}

func TestWaitSaysWhenSomethingNeverParks(t *testing.T) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
		}
	})
	err := wait(50 * time.Millisecond)
	stop.Store(true)
	wg.Wait()
	if err == nil {
		t.Error("Wait returned although a goroutine was running")
	}
}
