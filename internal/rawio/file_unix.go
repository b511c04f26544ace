//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rawio

import (
	"io/fs"
	"syscall"
)

func open(path string, flags int, perm fs.FileMode) (uintptr, error) {
	fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, Mode(perm))
	return uintptr(fd), err
}

func closeFD(fd uintptr) error { return syscall.Close(int(fd)) }

func read(fd uintptr, p []byte) (int, error)  { return syscall.Read(int(fd), p) }
func write(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }

func pread(fd uintptr, p []byte, off int64) (int, error)  { return syscall.Pread(int(fd), p, off) }
func pwrite(fd uintptr, p []byte, off int64) (int, error) { return syscall.Pwrite(int(fd), p, off) }

func flock(fd uintptr, how int) error { return syscall.Flock(int(fd), how) }

func truncate(fd uintptr, size int64) error { return syscall.Ftruncate(int(fd), size) }

func chmod(fd uintptr, perm fs.FileMode) error { return syscall.Fchmod(int(fd), Mode(perm)) }

func rename(from, to string) error              { return syscall.Rename(from, to) }
func unlink(path string) error                  { return syscall.Unlink(path) }
func rmdir(path string) error                   { return syscall.Rmdir(path) }
func mkdir(path string, perm fs.FileMode) error { return syscall.Mkdir(path, Mode(perm)) }
