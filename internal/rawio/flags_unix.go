//go:build linux || darwin

package rawio

import "syscall"

func nonBlocking(fd uintptr) bool {
	flags, err := fileFlags(fd)
	return err == nil && flags&syscall.O_NONBLOCK != 0
}

func appends(fd uintptr) bool {
	flags, err := fileFlags(fd)
	return err == nil && flags&syscall.O_APPEND != 0
}
