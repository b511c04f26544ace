package rawio

import "syscall"

func fsync(fd uintptr) error     { return syscall.Fsync(int(fd)) }
func fdatasync(fd uintptr) error { return syscall.Fdatasync(int(fd)) }
