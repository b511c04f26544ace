//go:build linux && (amd64 || arm64 || riscv64 || loong64)

package rawio

import "syscall"

func advise(fd uintptr, off, size int64, advice int) error {
	_, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, fd, uintptr(off), uintptr(size), uintptr(advice), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}
