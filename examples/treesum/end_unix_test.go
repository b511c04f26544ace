//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stuck starts the command on a tree so big that its list fits into no pipe, and
// waits until the pipe is full. The command is then in the midst of it, and cannot
// end before somebody reads.
func stuck(t *testing.T) (cmd *exec.Cmd, out *os.File, errs *strings.Builder) {
	t.Helper()
	cmd = child(t, longList(t))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	errs = new(strings.Builder)
	cmd.Stdout, cmd.Stderr = w, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for full := false; !full; {
		fds := []unix.PollFd{{Fd: int32(w.Fd()), Events: unix.POLLOUT}}
		n, err := unix.Poll(fds, 0)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			t.Fatal(err)
		}
		full = err == nil && n == 0
		runtime.Gosched()
	}
	w.Close()
	return cmd, r, errs
}

// TestASignalStopsCleanly verifies a list that has no end.
func TestASignalStopsCleanly(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := manyFiles(t, 10)
		cmd := child(t, "-check", "-")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		r, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, command(t.Context(), nil, dir).out); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewScanner(r)
		for n := 0; n < 10 && out.Scan(); n++ {
			if !strings.HasSuffix(out.Text(), ": OK") {
				t.Errorf("got %q", out.Text())
			}
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if out.Scan() {
			t.Errorf("one line too many: %s", out.Text())
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
			t.Errorf("%v: status %d, want 130", signal, got)
		}
		const want = "treesum: interrupted: 10 files, 10 bytes hashed\n"
		if errs.String() != want {
			t.Errorf("%v: got %q, want %q", signal, errs.String(), want)
		}
	}
}

func TestASecondSignalKills(t *testing.T) {
	cmd, _, _ := stuck(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	// Whether the first one has been taken notice of cannot be seen from outside,
	// and two that arrive together are one: so go on until it is over.
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-again.C:
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("ended by %v, want SIGINT", cmd.ProcessState)
	}
}

func TestAClosedPipeEndsTheProcessQuietly(t *testing.T) {
	cmd, out, errs := stuck(t)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE {
		t.Errorf("ended by %v, want SIGPIPE", cmd.ProcessState)
	}
	if errs.Len() != 0 {
		t.Errorf("standard error: %s", errs)
	}
}

func TestACheckDoesNotWaitForAFIFO(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	list := string(appendEntry(nil, entry{path: "fifo"}))
	got := command(t.Context(), strings.NewReader(list), "-check", "-")
	want := outcome{exitFailed, "fifo: FAILED open or read\n",
		"treesum: fifo: not a regular file\ntreesum: WARNING: 1 listed file could not be read\n"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
