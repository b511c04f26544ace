//go:build linux || darwin || freebsd

package main

import (
	"errors"
	"os"
	"syscall"
)

// statfs asks the file system of a path for its numbers, which a network file system has
// to ask its server for.
func statfs(path string) error {
	var buf syscall.Statfs_t
	for {
		err := syscall.Statfs(path, &buf)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("statfs", err)
		}
	}
}
