//go:build linux && (amd64 || arm64)

package system

import (
	"os"
	"syscall"
	"time"
)

// Direct is the flag of open that goes past the page cache.
const Direct = syscall.O_DIRECT

// The advice of posix_fadvise(2), and that of madvise(2) for huge pages and for all pages at
// once.
const (
	adviseRandom   = 1
	adviseDontNeed = 4
	adviseHuge     = 14
	adviseWritten  = 23 // MADV_POPULATE_WRITE, Linux 5.14
)

// Supported is nil: this is a system that can be measured.
func Supported() error { return nil }

// Allocate reserves the blocks of a file, which is so long from then on.
func Allocate(f *os.File, size int64) error {
	return os.NewSyscallError("fallocate", syscall.Fallocate(int(f.Fd()), 0, 0, size))
}

// Forget drops what the page cache has of a file. What is not on the disk yet stays.
func Forget(f *os.File) error { return advise(f, adviseDontNeed) }

// NoReadAhead tells the kernel that a file will be read at random.
func NoReadAhead(f *os.File) error { return advise(f, adviseRandom) }

func advise(f *os.File, advice uintptr) error {
	_, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, advice, 0, 0)
	if e != 0 {
		return os.NewSyscallError("fadvise", e)
	}
	return nil
}

// Map returns zeroed memory that begins at a page, on huge pages if that is wanted and
// the kernel has some. It is the caller's until Unmap.
func Map(size int, huge bool) ([]byte, error) {
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	if huge {
		_ = syscall.Madvise(mem, adviseHuge) // a wish
	}
	// So that no measurement meets a page for the first time.
	if syscall.Madvise(mem, adviseWritten) != nil {
		for i := 0; i < len(mem); i += 4096 {
			mem[i] = 0
		}
	}
	return mem, nil
}

// Unmap gives it back.
func Unmap(mem []byte) error { return os.NewSyscallError("munmap", syscall.Munmap(mem)) }

// Pread is pread(2).
func Pread(fd uintptr, buf []byte, off int64) (int, error) { return syscall.Pread(int(fd), buf, off) }

// Pwrite is pwrite(2).
func Pwrite(fd uintptr, buf []byte, off int64) (int, error) { return syscall.Pwrite(int(fd), buf, off) }

// CPUTime is what all threads of the process have used so far, those that the kernel runs
// for it (io-wq, SQPOLL) included, as they are tasks of the process.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Lock waits until nobody else has locked the file of that name, which it makes if need
// be.
func Lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "flock", Path: name, Err: err}
	}
	return func() { _ = f.Close() }, nil // which gives the lock back
}
