package fileop_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

// locks: two open files of one file are in each other's way, as flock(2) and the locks of
// open files are.
func locks(t *testing.T) {
	path := fileOf(t, random(100))
	a, b := open(t, path, syscall.O_RDWR), open(t, path, syscall.O_RDWR)
	for _, kind := range []fileop.Kind{fileop.Flock, fileop.RangeLock} {
		lock := func(f *fileop.File, flags int32) error {
			op := fileop.Op{Kind: kind, File: f, Flags: flags, Off: 10, Len: 20}
			op.Do(t.Context(), nil)
			return op.Err
		}
		if err := lock(a, fileop.LockExclusive); errors.Is(err, errors.ErrUnsupported) {
			t.Logf("kind %d: %v", kind, err)
			continue
		}
		if err := lock(b, fileop.LockShared|fileop.LockNoWait); !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("kind %d: a second lock: %v", kind, err)
		}
		must(t, lock(a, fileop.Unlock))
		must(t, lock(b, fileop.LockShared))
		must(t, lock(a, fileop.LockShared|fileop.LockNoWait))
		must(t, lock(a, fileop.Unlock))
		must(t, lock(b, fileop.Unlock))
	}
}

func TestALockOfARangeLeavesTheRestOfTheFileFree(t *testing.T) {
	path := fileOf(t, random(100))
	a, b := open(t, path, syscall.O_RDWR), open(t, path, syscall.O_RDWR)
	lock := func(f *fileop.File, off, size int64) error {
		op := fileop.Op{
			Kind: fileop.RangeLock, File: f, Flags: fileop.LockExclusive | fileop.LockNoWait, Off: off, Len: size,
		}
		op.Do(t.Context(), nil)
		return op.Err
	}
	if err := lock(a, 10, 10); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	must(t, lock(b, 0, 10))
	must(t, lock(b, 20, 0)) // and all behind it
	for _, off := range []int64{10, 19} {
		if err := lock(b, off, 1); !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("at %d: %v", off, err)
		}
	}
	if err := lock(a, 1<<40, 1); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("behind the end: %v", err)
	}
}

func TestALockThatIsNoneIsRefused(t *testing.T) {
	for _, kind := range []fileop.Kind{fileop.Flock, fileop.RangeLock} {
		op := fileop.Op{Kind: kind, File: open(t, fileOf(t, nil), syscall.O_RDWR), Flags: 64}
		if op.Do(t.Context(), nil); !errors.Is(op.Err, syscall.EINVAL) && !errors.Is(op.Err, errors.ErrUnsupported) {
			t.Errorf("kind %d: %v", kind, op.Err)
		}
	}
}
