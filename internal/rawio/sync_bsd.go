//go:build freebsd || netbsd || openbsd || dragonfly

package rawio

import "syscall"

func fsync(fd uintptr) error     { return syscall.Fsync(int(fd)) }
func fdatasync(fd uintptr) error { return fsync(fd) }
