//go:build linux || darwin

package rawio

import "syscall"

func nonBlocking(fd uintptr) bool {
	flags, err := fileFlags(fd)
	return err == nil && flags&syscall.O_NONBLOCK != 0
}

func access(fd uintptr) (reads, writes bool) {
	flags, err := fileFlags(fd)
	mode := flags & syscall.O_ACCMODE
	return err != nil || mode != syscall.O_WRONLY, err != nil || mode != syscall.O_RDONLY
}

func appends(fd uintptr) bool {
	flags, err := fileFlags(fd)
	return err == nil && flags&syscall.O_APPEND != 0
}
