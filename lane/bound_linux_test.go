package lane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// childVar asks TestCountThreads, in a process where nothing else runs, to send
// that many callers into a lane of that many workers: "sleep 10000 8".
const childVar = "IOLANE_LANE_CHILD"

// The calls block their threads in the kernel. There run never more of them than
// the lane has slots, and the process has no more threads than these, one for each
// processor, and a few of the runtime's own.
func TestALaneBoundsTheThreadsOfTheProcess(t *testing.T) {
	t.Parallel() // it mostly sleeps
	all := 10_000
	if raceDetector {
		all = 4_000
	}
	for _, c := range []struct {
		kind             string
		callers, workers int
	}{
		{"sleep", count(800, all/8), 8}, // 25 ms each: three seconds
		{"sleep", all, 64},
		{"pipe", 2 * all, 64},
		{"slow", 1_600, 8}, // 50 ms each, and five times as many as fit: two seconds
	} {
		t.Run(fmt.Sprint(c.kind, " in ", c.workers), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestCountThreads$", "-test.v", "-test.timeout=120s")
			cmd.Env = append(os.Environ(), fmt.Sprint(childVar, "=", c.kind, " ", c.callers, " ", c.workers))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", bytes.TrimSpace(out))
		})
	}
}

func TestCountThreads(t *testing.T) {
	var kind string
	var callers, workers int
	if n, _ := fmt.Sscan(os.Getenv(childVar), &kind, &callers, &workers); n != 3 {
		t.Skip("run by TestALaneBoundsTheThreadsOfTheProcess")
	}
	l := threads(t, lane.Config{Workers: workers, Queue: 16_384})
	w := &crew{lane: l}
	var wg sync.WaitGroup
	peak := 0
	switch kind {
	case "sleep":
		sleepers(t, w, &wg, callers)
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		peak = peakThreads(t, done)
	case "pipe":
		peak = readers(t, w, &wg, callers)
	case "slow":
		peak = overload(t, w, &wg, callers)
	}
	if got := w.peak.Load(); got != int64(workers) {
		t.Errorf("at most %d calls ran at a time, want %d", got, workers)
	}
	const few = 8
	if most := workers + runtime.GOMAXPROCS(0) + few; peak > most || peak < workers {
		t.Errorf("the process had %d threads, want %d to %d", peak, workers, most)
	}
	t.Logf("%d callers, %d workers: at most %d calls and %d threads", callers, workers, w.peak.Load(), peak)
	shut(t, l)
}

// nap is longer than two rounds of the runtime's monitor at its laziest, 10 ms each:
// it takes the processor from a thread that it finds in the same system call twice,
// so that many shorter calls may all run one after another on one processor.
const nap = 25 * time.Millisecond

func sleepers(t *testing.T, w *crew, wg *sync.WaitGroup, n int) {
	for range n {
		wg.Go(func() {
			if err := w.sleep(nap); err != nil {
				t.Error(err)
			}
		})
	}
}

// sleep is a call that blocks its thread for so long.
func (w *crew) sleep(d time.Duration) error {
	s, err := w.lane.Enter(context.Background(), lane.Call{})
	if err != nil {
		return err
	}
	w.begin()
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
	w.inside.Add(-1)
	w.lane.Leave(s)
	return nil
}

// overload sends n callers that fail fast, five times as many at a time as the lane can
// serve. What it has of them is constant: threads, queue, memory; the rest is told. And
// it is through with them soon after the last.
func overload(t *testing.T, w *crew, wg *sync.WaitGroup, n int) (peak int) {
	const service = 2 * nap
	workers := w.lane.Stats().Workers
	w.lane = threads(t, lane.Config{Workers: workers, Queue: workers, Policy: lane.FailFast})
	tick := time.NewTicker(service / time.Duration(5*workers))
	defer tick.Stop()
	var before uint64
	for i := range n {
		<-tick.C
		wg.Go(func() {
			if err := w.sleep(service); err != nil && !errors.Is(err, ioerr.ErrQueueFull) {
				t.Error(err)
			}
		})
		switch {
		case i == n/4:
			before = heap()
		case i%16 == 0:
			peak = max(peak, countThreads(t))
			// A caller that was handed a slot counts as queued until it comes.
			if s := w.lane.Stats(); s.Running > workers || s.Running+s.Queued > 2*workers || s.Waiting != 0 {
				t.Errorf("%d running, %d queued, %d waiting after %d of %d calls", s.Running, s.Queued, s.Waiting, i+1, n)
			}
		}
	}
	last := time.Now()
	if grown := int64(heap()) - int64(before); grown > 128<<10 {
		t.Errorf("the heap has grown by %d bytes over %d calls", grown, n*3/4)
	}
	for w.lane.Stats().Queued > 0 {
		time.Sleep(time.Millisecond)
	}
	const hiccup = 2 * time.Second // of a busy machine; in a bubble it is none, see TestOverloadEndsWithinOneServiceTime
	if d := time.Since(last); d > service+hiccup {
		t.Errorf("the queue was empty %v after the last call, want %v", d, service)
	}
	wg.Wait()
	if s := w.lane.Stats(); s.Refused.QueueFull < uint64(n/4) || s.Completed+s.Refused.QueueFull != uint64(n) {
		t.Errorf("%d calls completed and %d were refused of %d", s.Completed, s.Refused.QueueFull, n)
	}
	return max(peak, countThreads(t))
}

// readers sends n callers that fail fast to a lane with a queue of 16, where each
// call sits on an empty pipe. All who find no place are told.
func readers(t *testing.T, w *crew, wg *sync.WaitGroup, n int) (peak int) {
	const queue = 16
	workers := w.lane.Stats().Workers
	w.lane = threads(t, lane.Config{Workers: workers, Queue: queue, Policy: lane.FailFast})
	r, gate, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	fd := int(r.Fd()) // in blocking mode from here on
	for range n {
		wg.Go(func() {
			s, err := w.lane.Enter(context.Background(), lane.Call{})
			if err != nil {
				if !errors.Is(err, ioerr.ErrQueueFull) {
					t.Error(err)
				}
				return
			}
			w.begin()
			for {
				if _, err := syscall.Read(fd, make([]byte, 1)); !errors.Is(err, syscall.EINTR) {
					break
				}
			}
			w.inside.Add(-1)
			w.lane.Leave(s)
		})
	}
	until := time.Now().Add(30 * time.Second)
	for s := w.lane.Stats(); s.Submitted < uint64(n) || w.inside.Load() < int64(workers); s = w.lane.Stats() {
		if peak = max(peak, countThreads(t)); time.Now().After(until) {
			t.Fatalf("the callers do not get anywhere: %+v", s)
		}
		time.Sleep(time.Millisecond)
	}
	if s := w.lane.Stats(); s.Running != workers || s.Queued != queue || s.Refused.QueueFull != uint64(n-workers-queue) {
		t.Errorf("%d running, %d queued, %d refused", s.Running, s.Queued, s.Refused.QueueFull)
	}
	require.NoError(t, gate.Close()) // the calls end
	wg.Wait()
	if s := w.lane.Stats(); s.Completed != uint64(workers+queue) {
		t.Errorf("%d calls completed, want %d", s.Completed, workers+queue)
	}
	return max(peak, countThreads(t))
}

func peakThreads(t *testing.T, done <-chan struct{}) (peak int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return peak
		case <-tick.C:
			peak = max(peak, countThreads(t))
		}
	}
}

func countThreads(t *testing.T) int {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "\nThreads:")
	n, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
	require.NoError(t, err)
	return n
}
