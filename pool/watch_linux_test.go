package pool_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: limits of next to nothing do not make the watch look all the time.
func TestAWatchOfANanosecondDoesNotSpin(t *testing.T) {
	for name, w := range map[string]pool.Watch{"queue": {Queue: 1}, "wedged": {Wedged: 1}, "stuck": {Queue: time.Second}} {
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1}, Watch: w, OnEvent: func(pool.Event) {}})
		busy := newGate()
		c := start(func() error { return p.Do(bg, busy.pass) })
		busy.await(t, 1)
		d := start(func() error { return p.Do(bg, nothing) })
		time.Sleep(10 * time.Millisecond)
		var a, b syscall.Rusage
		_ = syscall.Getrusage(0, &a)
		time.Sleep(200 * time.Millisecond)
		_ = syscall.Getrusage(0, &b)
		used := time.Duration(b.Utime.Nano() + b.Stime.Nano() - a.Utime.Nano() - a.Stime.Nano())
		if used > 100*time.Millisecond {
			t.Errorf("%s: %v of 200 ms with one caller in line", name, used)
		}
		busy.open()
		require.NoError(t, <-c)
		require.NoError(t, <-d)
		closes(t, p)
	}
}
