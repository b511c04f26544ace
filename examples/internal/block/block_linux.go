package block

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// For sleeps in a system call, which holds a thread.
func For(d time.Duration) error {
	left := unix.NsecToTimespec(int64(d))
	for {
		if err := unix.Nanosleep(&left, &left); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Holds is whether For holds a thread.
const Holds = true
