package interrupt_test

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/iolane/iolane/internal/rawio"
)

// holdLock is the child's part of heldByChild: it makes the file, locks it, says so
// with a byte, and keeps the lock until its input ends.
func holdLock(path string) {
	fd, err := rawio.Open(nil, path, syscall.O_RDWR|syscall.O_CREAT, 0o600)
	if err == nil {
		err = rawio.Flock(nil, fd, 2) // LOCK_EX, which not all systems have
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(".")
	_, _ = io.Copy(io.Discard, os.Stdin)
}
