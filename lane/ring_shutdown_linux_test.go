package lane_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/rawio"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// breakARing makes the kernel say EBADF to one of the rings of the process.
func breakARing(t *testing.T) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range all {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.Contains(to, "io_uring") {
			var fd int
			_, err := fmt.Sscan(e.Name(), &fd)
			require.NoError(t, err)
			const oPath = 0x200000
			useless, err := syscall.Open("/", oPath|syscall.O_CLOEXEC, 0)
			require.NoError(t, err)
			require.NoError(t, syscall.Dup3(useless, fd, syscall.O_CLOEXEC))
			require.NoError(t, syscall.Close(useless))
			return
		}
	}
	t.Fatal("no ring")
}

// Law: a shut lane refuses operations, batches and fibers; what was accepted ends first, and a
// Shutdown that gave up can be repeated.
func TestAShutdownWaitsForOperationsAndRefusesLaterOnes(t *testing.T) {
	for _, what := range []string{"operation", "batch", "fiber"} {
		t.Run(what, func(t *testing.T) {
			l := ring(t, slots(4, 1))
			r, w := openPipe(t)
			ops := []lane.Op{*readOp(r, 1, fileop.AtPosition)}
			bg := context.Background()
			var all sync.WaitGroup
			all.Go(func() {
				var err error
				switch what {
				case "operation":
					err = l.Operate(bg, lane.Call{}, &ops[0])
				case "batch":
					err = l.OperateAll(bg, lane.Call{}, ops)
				default:
					err = l.Fiber(bg, lane.Call{}, func(ctx context.Context) {
						require.NoError(t, l.Operate(ctx, lane.Call{}, &ops[0]))
						later := &lane.Op{}
						require.NoError(t, l.Operate(ctx, lane.Call{}, later), "a fiber that was admitted goes on")
						came(t, later, 0, nil)
					})
				}
				if err != nil {
					t.Error(err)
				}
			})
			eventually(t, func() bool { return l.Stats().Running == 1 })
			for range 3 {
				ctx, cancel := context.WithTimeout(bg, time.Millisecond)
				require.ErrorIs(t, l.Shutdown(ctx), context.DeadlineExceeded)
				require.ErrorIs(t, l.Drain(ctx), context.DeadlineExceeded)
				cancel()
				f := openFile(t, "", os.O_RDWR)
				require.ErrorIs(t, l.Operate(bg, lane.Call{}, &lane.Op{}), ioerr.ErrShutdown)
				require.ErrorIs(t, l.Operate(bg, lane.Call{}, &lane.Op{Kind: fileop.Fsync, File: f}), ioerr.ErrShutdown)
				require.ErrorIs(t, l.OperateAll(bg, lane.Call{}, make([]lane.Op, 3)), ioerr.ErrShutdown)
				require.ErrorIs(t, l.Fiber(bg, lane.Call{}, func(context.Context) { t.Error("a fiber") }), ioerr.ErrShutdown)
			}
			feed(t, w, "x")
			require.NoError(t, l.Shutdown(bg))
			all.Wait()
			came(t, &ops[0], 1, nil)
			require.NoError(t, l.Shutdown(bg))
			ended, cancel := context.WithCancel(bg)
			cancel()
			require.NoError(t, l.Shutdown(ended), "what has ended has ended")
		})
	}
}

// Law: owners can be evicted: those who wait are refused, what is in flight ends.
func TestEvictedOperationsAreRefused(t *testing.T) {
	c := slots(1, 1)
	c.Queue = lane.NoQueue
	l := ring(t, c)
	r, w := openPipe(t)
	first := readOp(r, 1, fileop.AtPosition)
	var all sync.WaitGroup
	all.Go(func() {
		if err := l.Operate(context.Background(), lane.Call{Owner: 7}, first); err != nil {
			t.Error(err)
		}
	})
	eventually(t, func() bool { return l.Stats().Running == 1 })
	late := make(chan error)
	go func() { late <- l.Operate(context.Background(), lane.Call{Owner: 7}, &lane.Op{}) }()
	eventually(t, func() bool { return l.Stats().Waiting == 1 })
	l.Evict(7)
	require.ErrorIs(t, <-late, ioerr.ErrShutdown)
	l.Forget(7)
	feed(t, w, "x")
	all.Wait()
	came(t, first, 1, nil)
	require.NoError(t, l.Operate(context.Background(), lane.Call{Owner: 7}, &lane.Op{}))
}

// Law: a lane whose ring has failed can be shut down.
func TestALaneWhoseRingHasFailedCanBeShutDown(t *testing.T) {
	l := ring(t, slots(4, 2))
	r, w := openPipe(t)
	op := readOp(r, 1, fileop.AtPosition)
	var all sync.WaitGroup
	all.Go(func() { operate(t, l, op) })
	eventually(t, func() bool { return l.Stats().Running == 1 && l.Stats().Ring.Enters > 0 })
	breakARing(t)
	program(t, l)
	feed(t, w, "x")
	all.Wait()
	came(t, op, 1, nil)
	program(t, l)
	require.NoError(t, l.Shutdown(context.Background()))
}

// Law: no event after the lane has ended, also of a ring that failed in its last moments, when
// the operations had ended already.
func TestNoEventComesAfterTheEnd(t *testing.T) {
	failed, hear := make(chan struct{}), make(chan struct{})
	var ended, told, late atomic.Bool
	c := slots(4, 2)
	c.OnEvent = func(e lane.Event) {
		for range 1000 { // whoever does not wait for this has the time to go
			runtime.Gosched()
		}
		late.Store(late.Load() || ended.Load())
		told.Store(told.Load() || e.Kind == lane.Degraded)
	}
	c = c.WithDriver(ringdriver.Config{OnDown: func(error) {
		close(failed)
		<-hear
	}})
	l := ring(t, c)
	r, w := openPipe(t)
	op := readOp(r, 1, fileop.AtPosition)
	var all sync.WaitGroup
	all.Go(func() { operate(t, l, op) })
	eventually(t, func() bool { return l.Stats().Running == 1 && l.Stats().Ring.Enters > 0 })
	breakARing(t)
	program(t, l)
	<-failed
	feed(t, w, "x")
	all.Wait()
	down := make(chan error)
	go func() {
		err := l.Shutdown(context.Background())
		ended.Store(true)
		down <- err
	}()
	eventually(t, func() bool { // until only the rings are left to be closed
		s, err := l.Enter(context.Background(), lane.Call{Must: true})
		if err == nil {
			l.Leave(s)
		}
		return errors.Is(err, ioerr.ErrShutdown)
	})
	close(hear)
	require.NoError(t, <-down)
	require.True(t, told.Load())
	require.False(t, late.Load())
}

// workers is how many threads the kernel has for rings, by the thread that they work for.
func workers() map[string]int {
	all, _ := filepath.Glob("/proc/self/task/*/comm")
	n := map[string]int{}
	for _, file := range all {
		if name, _ := os.ReadFile(file); strings.HasPrefix(string(name), "iou-wrk-") {
			n[string(name)]++
		}
	}
	return n
}

// Law: the kernel's own threads are bounded, however many cold reads there are.
func TestTheThreadsOfTheKernelAreBounded(t *testing.T) {
	c := slots(128, 2)
	c.KernelThreads, c.NoInline = 2, true
	l := ring(t, c)
	const size = 4096
	f := openFile(t, strings.Repeat("0123456789abcdef", 1<<16), os.O_RDWR)
	require.NoError(t, syscall.Fsync(int(f.FD)))
	stop := make(chan struct{})
	var watching, all sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				for thread, n := range workers() {
					if n > 2*c.KernelThreads {
						t.Error(n, "threads of the kernel for", thread)
					}
				}
			}
		}
	})
	n := count(2000, 10000)
	for i := range 100 {
		all.Go(func() {
			for j := range n / 100 {
				if j%10 == 0 {
					_ = rawio.Advise(nil, f.FD, 0, 0, 4) // not needed in the page cache
				}
				op := readOp(f, size, int64((i*n/100+j)*37%256*size))
				operate(t, l, op)
				came(t, op, size, nil)
			}
		})
	}
	all.Wait()
	close(stop)
	watching.Wait()
}

// Law: a close that takes long goes to a thread, and holds up no operation of the ring.
func TestACloseThatTakesLongHoldsNobodyUp(t *testing.T) {
	l := ring(t, slots(4, 1))
	held, err := l.Enter(context.Background(), lane.Call{}) // the only thread is as slow as can be
	require.NoError(t, err)
	fd, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	require.NoError(t, err)
	op := &lane.Op{Kind: fileop.Close, File: &fileop.File{FD: uintptr(fd)}}
	var all sync.WaitGroup
	all.Go(func() { operate(t, l, op) })
	eventually(t, func() bool { return l.Stats().Queued == 1 })
	f := openFile(t, "0123456789", os.O_RDWR)
	for range 1000 {
		op := readOp(f, 4, 2)
		operate(t, l, op)
		came(t, op, 4, nil)
	}
	require.Equal(t, 1, l.Stats().Queued)
	l.Leave(held)
	all.Wait()
	came(t, op, 0, nil)
}
