package slab

import (
	"errors"
	"io"
	"os"
	"syscall"
	"unsafe"
)

// What package syscall does not have, or not for each architecture.
const (
	mapHuge2MB = 21 << 26

	madvDontFork      = 10
	madvHugePage      = 14
	madvPopulateWrite = 23

	none      = syscall.PROT_NONE
	readWrite = syscall.PROT_READ | syscall.PROT_WRITE
)

// kernel is what Map needs of the system; tests have their own.
type kernel interface {
	mmap(size, prot, flags int) ([]byte, error)
	mprotect(b []byte, prot int) error
	madvise(b []byte, advice int) error
	munmap(b []byte) error
	smaps() (io.ReadCloser, error)
}

// Map makes need bytes of memory, at least 1, aligned to HugePage; align is for other
// systems. The memory is taken at once. The error is an *os.SyscallError.
func Map(need, _ int) (*Memory, error) { return mapped(linux{}, need) }

func mapped(k kernel, need int) (*Memory, error) {
	if m := reserve(k, need); m != nil {
		return m, nil
	}
	return pages(k, need)
}

// reserve takes huge pages of the system's reserve, or returns nil. That the kernel has
// promised them is not enough: a limit of the cgroup would end the process at the first
// touch (SIGBUS), so each is touched by a system call that says so instead.
func reserve(k kernel, need int) *Memory {
	size := roundUp(need, HugePage)
	b, err := k.mmap(size, readWrite, syscall.MAP_HUGETLB|mapHuge2MB)
	if err != nil {
		return nil
	}
	if err := k.madvise(b, madvPopulateWrite); err != nil {
		_ = k.munmap(b)
		return nil
	}
	_ = k.madvise(b, madvDontFork)
	return &Memory{Bytes: b[:need:need], Backing: HugeTLB, Huge: size, free: unmap(k, b)}
}

// pages takes usual pages and asks for huge ones. At either end a page stays out of
// reach, so that the mapping has no neighbour to be joined with and the kernel's figures
// are about it alone.
func pages(k kernel, need int) (m *Memory, err error) {
	size, page := roundUp(need, HugePage), os.Getpagesize()
	whole, err := k.mmap(size+HugePage+2*page, none, 0)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	defer func() {
		if err != nil {
			_ = k.munmap(whole)
		}
	}()
	from := int(roundUp(address(whole)+uintptr(page), HugePage) - address(whole))
	b := whole[from : from+size : from+size]
	if err := k.mprotect(b, readWrite); err != nil {
		return nil, os.NewSyscallError("mprotect", err)
	}
	// The child of a fork would get copies of pages into which the device is writing.
	_ = k.madvise(b, madvDontFork)
	_ = k.madvise(b, madvHugePage) // what comes of it is looked up
	if err := populate(k, b[:need], page); err != nil {
		return nil, os.NewSyscallError("madvise", err)
	}
	m = &Memory{Bytes: b[:need:need], Backing: Plain, free: unmap(k, whole)}
	if m.Huge = hugeBytes(k, address(b)); m.Huge > 0 {
		m.Backing = Transparent
	}
	return m, nil
}

// populate makes the kernel provide each page, so that the lack of memory is an error
// here and not a fault in the middle of a transfer.
func populate(k kernel, b []byte, page int) error {
	err := k.madvise(b, madvPopulateWrite)
	if !errors.Is(err, syscall.EINVAL) {
		return err
	}
	for i := 0; i < len(b); i += page { // before Linux 5.14
		b[i] = 0
	}
	return nil
}

func unmap(k kernel, b []byte) func() error {
	return func() error { return os.NewSyscallError("munmap", k.munmap(b)) }
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// linux is the kernel.
type linux struct{}

func (linux) mmap(size, prot, flags int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, prot, flags|syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func (linux) mprotect(b []byte, prot int) error  { return syscall.Mprotect(b, prot) }
func (linux) madvise(b []byte, advice int) error { return syscall.Madvise(b, advice) }
func (linux) munmap(b []byte) error              { return syscall.Munmap(b) }
func (linux) smaps() (io.ReadCloser, error)      { return os.Open("/proc/self/smaps") }
