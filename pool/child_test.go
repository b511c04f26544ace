package pool_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Tests that watch a process end start the test binary again with this variable
// set to the name of a function below.
const childVar = "IOLANE_POOL_TEST_CHILD"

var children = map[string]func(){
	"stuck": stuckChild, "left": leftChild, "dead": deadChild, "many": manyChild, "lock": lockChild,
}

// fatal ends a child that finds something wrong.
func fatal(args ...any) {
	fmt.Println(args...)
	os.Exit(1)
}

// stuckChild has a call and a hook that never end, shuts down and returns.
func stuckChild() {
	disposing, calling := make(chan int), make(chan int)
	p, err := pool.New(pool.Config[int]{
		Threads: lane.Config{Name: "disk", Workers: 3},
		Dispose: func(int) error { close(disposing); select {} },
	})
	if err != nil {
		fatal(err)
	}
	id, _ := p.Adopt(1)
	_, _ = p.Adopt(2) // its hook hangs
	go func() {
		_ = p.With(context.Background(), id, func(context.Context, int) error { close(calling); blockForEver(); return nil }, pool.Label("fsync /mnt/a"))
	}()
	<-calling
	var last string
	for i := range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		began := time.Now()
		err := p.Shutdown(ctx)
		took := time.Since(began)
		cancel()
		report, ok := errors.AsType[*pool.Report](err)
		switch {
		case !ok || !errors.Is(err, context.DeadlineExceeded):
			fatal("no report:", err)
		case took > 5*time.Second:
			fatal("Shutdown took", took)
		case len(report.Running) != 1 || report.Running[0].Label != "fsync /mnt/a" || report.Running[0].Handle != id || report.Running[0].Age <= 0:
			fatal("running:", report.Running)
		case len(report.Undisposed) != 2 || report.Others != 0 || report.FailedTotal != 0:
			fatal("report:", report)
		}
		report.Running[0].Age = 0
		if text := fmt.Sprint(len(report.Undisposed), report.Running); i > 0 && text != last {
			fatal("another report:", text, "instead of", last)
		} else {
			last = text
		}
	}
	<-disposing
	fmt.Println("down")
}

// blockForEver blocks the thread in the kernel, on Linux.
func blockForEver() {
	for {
		nap(time.Hour)
	}
}

// Law: with a call that never ends and a hook that never ends, Shutdown returns on
// time, says what is stuck, and the process ends.
func TestProcessEndsAlthoughSomethingIsStuck(t *testing.T) { endsAfterShutdown(t, "stuck") }

// endsAfterShutdown checks that a child ends well, within a second after it has said that
// its pool is down.
func endsAfterShutdown(t *testing.T, name string) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, binary)
	child.Env = append(os.Environ(), childVar+"="+name, "GORACE=atexit_sleep_ms=0")
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	child.Stderr = os.Stderr
	require.NoError(t, child.Start())
	var lines []string
	var down time.Time
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		down = time.Now()
	}
	err = child.Wait()
	if took := time.Since(down); err != nil || strings.Join(lines, "; ") != "down" || took > time.Second {
		t.Errorf("%v after Shutdown had returned: %v, %q", took, err, lines)
	}
}
