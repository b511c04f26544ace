package ringdriver

import (
	"context"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/uring"
)

// atWork is the functions of drivers that a goroutine is in.
func atWork() []string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	frame := regexp.MustCompile(`(?m)^\S+/ringdriver\.(\(\*(Driver|Fiber)\)\.(drive|patrol|runAside|Away)|newYielder)[.\w]*\(.*$`)
	return frame.FindAllString(string(all), -1)
}

// Law: when Close has returned no goroutine of the driver is left.
func TestAClosedDriverLeavesNoGoroutine(t *testing.T) {
	for range rounds(200, 5000) {
		d := newDriver(t, Config{Slots: 8})
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				d.Run(bg, nil, func(ctx context.Context) {
					f := On(ctx)
					f.Do(ctx, nop())
					if i == 0 {
						f.Away(func() {})
					}
				})
			})
		}
		all.Wait()
		require.NoError(t, d.Close(bg))
		require.Empty(t, atWork())
	}
}

// Law: so it is also after a driver was replaced.
func TestAClosedDriverLeavesNoReplacedDriver(t *testing.T) {
	for range 20 {
		d := newDriver(t, Config{Slots: 8})
		d.Run(bg, nil, func(ctx context.Context) {
			takenOver(ctx)
			On(ctx).Do(ctx, nop())
		})
		require.NoError(t, d.Close(bg))
		require.Empty(t, atWork())
	}
}

// Law: a ring that had to be left, since something in it did not end, can be closed when that
// has ended.
func TestARingThatWasLeftIsClosedLater(t *testing.T) {
	before := descriptors(t)
	d, _ := broken(t, 4)
	g := newGate(t)
	asOwner(t, d, func() { // nobody's: the driver does not wait for it
		d.closing = 10 * time.Millisecond
		s, ok := d.ring.Take()
		require.True(t, ok)
		d.ring.Read(s, uring.FD(g.r), g.op.Buf, -1)
		require.NoError(t, d.ring.Submit())
	})
	breakRing(t)
	var left *uring.LeftError
	for range 2 {
		require.ErrorAs(t, d.Close(bg), &left)
		require.Equal(t, 1, left.InFlight)
	}
	require.Empty(t, atWork())
	g.open()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		err := d.Close(bg)
		if err == nil {
			break
		}
		require.ErrorAs(t, err, &left)
		require.True(t, time.Now().Before(end), "never closed")
	}
	require.NoError(t, d.Close(bg))
	g.close()
	require.Equal(t, before, descriptors(t))
}
