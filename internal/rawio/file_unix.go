//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rawio

import (
	"io/fs"
	"syscall"
)

func open(path string, flags int, perm fs.FileMode) (uintptr, error) {
	fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, mode(perm))
	return uintptr(fd), err
}

// mode is perm as open(2) wants it: package fs has other bits for these three.
func mode(perm fs.FileMode) uint32 {
	m := uint32(perm.Perm())
	if perm&fs.ModeSetuid != 0 {
		m |= syscall.S_ISUID
	}
	if perm&fs.ModeSetgid != 0 {
		m |= syscall.S_ISGID
	}
	if perm&fs.ModeSticky != 0 {
		m |= syscall.S_ISVTX
	}
	return m
}

func closeFD(fd uintptr) error { return syscall.Close(int(fd)) }

func read(fd uintptr, p []byte) (int, error)  { return syscall.Read(int(fd), p) }
func write(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }

func pread(fd uintptr, p []byte, off int64) (int, error)  { return syscall.Pread(int(fd), p, off) }
func pwrite(fd uintptr, p []byte, off int64) (int, error) { return syscall.Pwrite(int(fd), p, off) }

func flock(fd uintptr, how int) error { return syscall.Flock(int(fd), how) }
