//go:build unix

package main

import (
	"os"
	"syscall"
)

// lockFile waits until nobody else has locked the file.
func lockFile(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "flock", Path: name, Err: err}
	}
	return func() { _ = f.Close() }, nil // which gives the lock back
}
