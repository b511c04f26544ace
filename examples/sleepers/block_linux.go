package main

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// block sleeps in a system call, which holds a thread.
func block(d time.Duration) error {
	left := unix.NsecToTimespec(int64(d))
	for {
		if err := unix.Nanosleep(&left, &left); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
