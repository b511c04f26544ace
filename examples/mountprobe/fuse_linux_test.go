package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
)

// deadMount mounts a FUSE file system whose server never answers: whoever asks it for
// anything hangs in the kernel, until revive makes the server go away.
func deadMount(t *testing.T) (dir string, revive func()) {
	t.Helper()
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no FUSE here: ", err)
	}
	t.Cleanup(func() { _ = fuse.Close() })
	dir = t.TempDir()
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fuse.Fd(), os.Getuid(), os.Getgid())
	if err := syscall.Mount("iolane-test", dir, "fuse", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		t.Skip("may not mount here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func() {
		if err := fuse.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A true dead mount: the probe says so in time, goes on saying so, does not wait for it
// with the others, and notices when it comes to an end.
func TestADeadFUSEMount(t *testing.T) {
	dir, revive := deadMount(t)
	alive := t.TempDir()
	p, err := newProber(50*time.Millisecond, 2, statfs)
	if err != nil {
		t.Fatal(err)
	}
	var first time.Duration
	for range 5 {
		got := p.round(t.Context(), []string{dir, alive})
		if got[0].state != stateHung || got[0].took <= first || got[1].state != stateOK {
			t.Errorf("%v", got)
		}
		first = got[0].took
		if n := len(p.calls.Stats().Lane.Left); n != 1 {
			t.Errorf("%d calls are left running, want 1", n)
		}
	}
	revive()
	if err := p.calls.Close(); err != nil { // the call has come back
		t.Error(err)
	}
	if err := statfs(dir); !errors.Is(err, syscall.ENOTCONN) {
		t.Error(err)
	}
}
