package pool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Faults that people have met with calls that never return, and of which processes died, or
// did not end; docs/faults.md names the reports.

// One worker in a call that never returns keeps the whole program from ending.
func TestProcessEndsAlthoughCallsWereLeft(t *testing.T) { endsAfterShutdown(t, "left") }

// leftChild has one call that was left and one whose caller still waits, both in the opening
// of a FIFO whose other end never comes, shuts down and returns.
func leftChild() {
	dir, err := os.MkdirTemp("", "iolane")
	if err != nil {
		fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		fatal(err)
	}
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 2}, CallLimit: lane.NoLimit, Grace: lane.NoGrace})
	if err != nil {
		fatal(err)
	}
	p, err := pool.New(pool.Config[string]{Lane: l, OwnsLane: true, Dispose: func(string) error { fatal("disposed of while in use"); return nil }})
	if err != nil {
		fatal(err)
	}
	id, _ := p.Adopt(name)
	other, _ := p.Adopt(name)
	began := make(chan int, 2)
	open := func(_ context.Context, name string) (fd, error) {
		began <- 1
		return again(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY, 0) })
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-began; cancel() }()
	if _, err := pool.OffloadOn(ctx, p, id, open, pool.Label("open log")); !wasLeft(err) {
		fatal("not left:", err)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := pool.OffloadOn(context.Background(), p, other, open, pool.Label("open other"))
		waits <- err
	}()
	<-began
	for i := range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		start := time.Now()
		err := p.Shutdown(ctx)
		took := time.Since(start)
		cancel()
		report, ok := errors.AsType[*pool.Report](err)
		switch {
		case !ok || !errors.Is(err, context.DeadlineExceeded):
			fatal("no report:", err)
		case took < 100*time.Millisecond || took > 5*time.Second:
			fatal("Shutdown took", took)
		case len(report.Running) != 2 || len(report.Undisposed) != 2 || report.Others != 0 || report.FailedTotal != 0:
			fatal("report:", report)
		}
		for k, want := range []struct {
			label string
			id    handle.ID
		}{{"open log", id}, {"open other", other}} {
			if c := report.Running[k]; c.Label != want.label || c.Handle != want.id || c.Age <= 0 {
				fatal("running:", c)
			}
		}
		if i == 0 {
			if err := <-waits; !wasLeft(err) || !errors.Is(err, ioerr.ErrShutdown) {
				fatal("the one who waited:", err)
			}
		}
	}
	fmt.Println("down")
}

// A mount after the other dies, each takes a thread or more, and at the limit of threads the
// runtime ends the process. With a bound for calls that were left, the callers are told that
// there are too many, and everything is well again when the mounts are.
func TestDeadResourcesWithoutEndDoNotEndTheProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=many")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func manyChild() {
	const most, workers, budget, resources = 40, 8, 8, 200
	debug.SetMaxThreads(most) // beyond it the runtime ends the process
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: workers}, Grace: lane.NoGrace, Left: budget})
	if err != nil {
		fatal(err)
	}
	p, err := pool.New(pool.Config[pipeEnd]{Lane: l, OwnsLane: true})
	if err != nil {
		fatal(err)
	}
	var ids []handle.ID
	var ends []int
	for range resources {
		var pipe [2]int
		if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
			fatal(err)
		}
		ends = append(ends, pipe[1])
		id, err := p.Adopt(pipeEnd{fd: pipe[0], dead: true})
		if err != nil {
			fatal(err)
		}
		ids = append(ids, id)
	}
	var read func(id handle.ID) error
	read = func(id handle.ID) error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		defer cancel()
		_, err := pool.OffloadOn(ctx, p, id, func(_ context.Context, e pipeEnd) (int, error) { return 0, e.read() })
		if ctx.Err() != nil && !wasLeft(err) { // its time was over before it began
			return read(id)
		}
		return err
	}
	left, saturated, busy := 0, 0, 0
	for range 3 {
		for _, id := range ids {
			switch err := read(id); {
			case wasLeft(err):
				left++
			case errors.Is(err, ioerr.ErrSaturated):
				saturated++
			case errors.Is(err, ioerr.ErrHandleBusy):
				busy++
			default:
				fatal("not told why:", err)
			}
		}
	}
	if left != workers+budget || busy != 2*left || saturated != 3*(resources-left) {
		fatal(left, "left,", saturated, "told of too many,", busy, "of a busy handle")
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) > most {
		fatal(len(threads), "threads", err)
	}
	for _, fd := range ends {
		if err := syscall.Close(fd); err != nil {
			fatal(err)
		}
	}
	for _, id := range ids {
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			err := read(id)
			if err == nil {
				break
			}
			// One may be left once more, where the machine takes longer for it than it may.
			if !errors.Is(err, ioerr.ErrHandleBusy) && !errors.Is(err, ioerr.ErrSaturated) && !wasLeft(err) || time.Now().After(end) {
				fatal("it does not work again:", err)
			}
		}
	}
	if err := p.Close(); err != nil {
		fatal(err)
	}
}
