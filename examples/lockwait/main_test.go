//go:build linux || darwin || freebsd

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hold locks a file as another process would: by another opening of it.
func hold(t *testing.T, path string) (free func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal("locked already: ", err)
	}
	return func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A lock that does not come in time is given up, and is nobody's when it comes after all.
func TestALockThatComesTooLateIsGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := newLocks()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		free := hold(t, path)
		began := time.Now()
		file, err := l.lock(t.Context(), path, 20*time.Millisecond)
		if file != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Fatalf("%v, %v after %v", file, err, time.Since(began))
		}
		free()
		for len(l.Stats().Lane.Left) > 0 { // where the wait was left
			time.Sleep(time.Millisecond)
		}
	}
	file, err := l.lock(t.Context(), path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheCommandRunsUnderTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := run(t.Context(), []string{path, "true"}); err != nil {
		t.Error(err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](run(t.Context(), []string{path, "false"})); !ok || exit.ExitCode() != 1 {
		t.Error(exit)
	}
	free := hold(t, path)
	if err := run(t.Context(), []string{"-for", "1ms", path, "true"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	free()
	if err := run(t.Context(), []string{path}); err == nil {
		t.Error("no command, no error")
	}
}
