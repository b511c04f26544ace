//go:build linux && (amd64 || 386 || arm64)

package interrupt_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// rounds is how often each kind of call is interrupted.
func rounds() int {
	switch {
	case os.Getenv("IOLANE_STRESS") == "1":
		return 10_000
	case testing.Short():
		return 50
	}
	return 300
}

// hanging is when a call that was interrupted counts as missed.
const hanging = 30 * time.Second

func taken(t testing.TB) *interrupt.Signal {
	t.Helper()
	s, err := interrupt.Take(0)
	must(t, err)
	t.Cleanup(s.Release)
	return s
}

// dawdle lets the interrupt meet the call at any of its steps, also before it is in
// the kernel, and when it has long been there.
func dawdle() {
	switch n := rand.IntN(300); {
	case n < 100:
	case n < 250:
		for start := time.Now(); time.Since(start) < time.Duration(n-100)*200*time.Nanosecond; {
			runtime.Gosched()
		}
	default:
		time.Sleep(time.Duration(n) * time.Microsecond)
	}
}

// neighbour blocks in reads of a pipe on another thread, as a call that nobody
// asks, and reports every EINTR; stop ends it.
func neighbour(t *testing.T, s *interrupt.Signal) (stop func()) {
	r, w := pipe(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := make([]byte, 1)
		for p[0] != 'q' {
			c := interrupt.NewCall(s)
			if _, err := rawio.Do(c, func() (int, error) {
				n, err := syscall.Read(int(r), p)
				if errors.Is(err, syscall.EINTR) {
					t.Error("the neighbour was hit")
				}
				return n, err
			}); err != nil {
				t.Error("neighbour:", err)
			}
		}
	}()
	return func() {
		_, err := syscall.Write(int(w), []byte("q"))
		must(t, err)
		<-done
	}
}

// later is what the thread of an interrupted call does next. It is no call, nobody
// tries again for it: an EINTR would come from the signal of the call before.
func later(t *testing.T) (next func()) {
	r, w := pipe(t)
	p := make([]byte, 1)
	return func() {
		go func() {
			runtime.Gosched()
			_, _ = syscall.Write(int(w), []byte("."))
		}()
		if _, err := syscall.Read(int(r), p); err != nil {
			t.Error("the next call of the thread:", err)
		}
	}
}

// interruptAll runs the blocker on one thread and interrupts it, n times.
func interruptAll(t *testing.T, s *interrupt.Signal, n int, run func(*interrupt.Call) error) {
	stop := neighbour(t, s)
	defer stop()
	next := later(t)
	calls := make(chan *interrupt.Call)
	results := make(chan error)
	go func() {
		defer close(results)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for c := range calls {
			err := run(c)
			next()
			results <- err
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), hanging*time.Duration(1+n/1000))
	defer cancel()
	for i := range n {
		c := interrupt.NewCall(s)
		calls <- c
		dawdle()
		if i%4 == 0 { // a second one who asks
			go c.Ask()
		}
		if err := c.Interrupt(ctx); err != nil {
			t.Fatalf("round %d was missed: %v", i, err) // leaves goroutines behind
		}
		if err := <-results; !errors.Is(err, interrupt.ErrInterrupted) {
			t.Errorf("round %d: %v", i, err)
		}
	}
	close(calls)
	for range results { // until the thread has gone
	}
}

func TestEveryBlockedCallIsInterruptedAndNoOther(t *testing.T) {
	for _, b := range blockers {
		t.Run(b.name, func(t *testing.T) {
			run := b.setUp(t)
			s := taken(t)
			before := descriptors(t)
			interruptAll(t, s, rounds(), run)
			if after := descriptors(t); after != before+4 { // two pipes of the test
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

// descriptors counts the descriptors of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(d)
}

func TestProgramsThatAreNotifiedOfAllSignals(t *testing.T) {
	all := make(chan os.Signal, 1000)
	signal.Notify(all)
	defer signal.Stop(all)
	s := taken(t)
	for _, b := range blockers {
		interruptAll(t, s, 20, b.setUp(t))
	}
	for len(all) > 0 {
		if got := <-all; got == syscall.Signal(s.Number()) {
			t.Error("the program was notified of a signal of ours")
		}
	}
}

// The program switches the signal between ignored and its own, which sets the
// handler anew with SA_RESTART, while calls are interrupted.
func TestProgramsThatSetTheHandlerAnew(t *testing.T) {
	if emulated() {
		t.Skip("an emulator may read the handler when the signal is not ignored yet, and again when it is, and call SIG_IGN")
	}
	s := taken(t)
	var stop atomic.Bool
	var program sync.WaitGroup
	program.Go(func() {
		c := make(chan os.Signal, 1)
		for !stop.Load() {
			signal.Ignore(syscall.Signal(s.Number()))
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			signal.Notify(c, syscall.Signal(s.Number()))
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		}
		signal.Stop(c)
	})
	for _, b := range blockers {
		interruptAll(t, s, rounds()/10, b.setUp(t))
	}
	stop.Store(true)
	program.Wait()
}

// One set, many threads, all blocked for good: as at the end of a pool.
func TestASetOfBlockedCalls(t *testing.T) {
	s := taken(t)
	var set interrupt.Set
	var wg sync.WaitGroup
	for i := range 70 {
		run := blockers[i%len(blockers)].setUp(t)
		wg.Go(func() {
			c := interrupt.NewCall(s)
			set.Add(c)
			defer set.Remove(c)
			if err := run(c); !errors.Is(err, interrupt.ErrInterrupted) {
				t.Errorf("%s: %v", blockers[i%len(blockers)].name, err)
			}
		})
	}
	dawdle()
	ctx, cancel := context.WithTimeout(context.Background(), hanging)
	defer cancel()
	must(t, set.Interrupt(ctx))
	wg.Wait()
}

// The inner call runs on the thread of the outer one, within its section. The outer
// one is interrupted; the inner one must not notice, and the outer one ends after it.
func TestTheInnerCallOfAnInterruptedOneGoesOn(t *testing.T) {
	s := taken(t)
	for range max(rounds()/10, 10) {
		outer, inner := interrupt.NewCall(s), interrupt.NewCall(s)
		r, w := pipe(t)
		blocked, result := make(chan struct{}), make(chan error)
		interruptions := 0
		go func() {
			_, err := rawio.Do(outer, func() (int, error) {
				if interruptions == 0 {
					n, err := rawio.Do(inner, func() (int, error) {
						if interruptions++; interruptions == 1 {
							close(blocked)
						}
						return syscall.Read(int(r), make([]byte, 1))
					})
					if n != 1 || err != nil {
						t.Errorf("inner: %d, %v", n, err)
					}
				}
				return poll(r) // for good
			})
			result <- err
		}()
		<-blocked
		done := make(chan error)
		go func() { done <- outer.Interrupt(context.Background()) }()
		dawdle()
		_, err := syscall.Write(int(w), []byte("."))
		must(t, err)
		must(t, <-done)
		if err := <-result; !errors.Is(err, interrupt.ErrInterrupted) {
			t.Errorf("outer: %v", err)
		}
	}
}
