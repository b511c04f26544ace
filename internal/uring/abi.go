package uring

import "syscall"

// What the kernel and this package share, as include/uapi/linux/io_uring.h has it. The
// layout is the same on all architectures, since every field is of a fixed size and
// stands at a multiple of it; 64-bit fields of Go structs are aligned to four bytes only
// on 386, and none of these has a gap because of that.

// Flags of io_uring_setup.
const (
	setupCQSize       = 1 << 3  // since 5.5: params.cqEntries is what we want
	setupSubmitAll    = 1 << 7  // since 5.18: one bad entry does not end a submission
	setupTaskrunFlag  = 1 << 9  // since 5.19: sqTaskrun says that there are some
	setupSingleIssuer = 1 << 12 // since 6.0: one thread submits
	setupDeferTaskrun = 1 << 13 // since 6.1: completions are made in enter only
	setupNoSQArray    = 1 << 16 // since 6.6: no array of indices
)

// Flags of io_uring_enter.
const (
	enterGetEvents  = 1 << 0
	enterExtArg     = 1 << 3
	enterRegistered = 1 << 4 // the descriptor is one of IORING_REGISTER_RING_FDS
)

// Flags that the kernel sets in the submission queue.
const (
	sqCQOverflow = 1 << 1
	sqTaskrun    = 1 << 2
)

// Offsets for mmap.
const (
	offSQRing = 0
	offSQEs   = 0x10000000
)

// Features that this package cannot do without: all since 5.11.
const (
	featSingleMmap   = 1 << 0
	featNoDrop       = 1 << 1
	featSubmitStable = 1 << 2
	featExtArg       = 1 << 8
	featNeeded       = featSingleMmap | featNoDrop | featSubmitStable | featExtArg
)

// Codes of io_uring_register.
const (
	registerBuffers   = 0
	unregisterBuffers = 1
	registerFiles     = 2
	registerProbe     = 8
	registerIOWQMax   = 19
	registerRingFDs   = 20
	unregisterRingFDs = 21
)

// Flags of entries.
const (
	sqeFixedFile = 1 << 0

	cqeMore = 1 << 1

	timeoutAbs = 1 << 0

	cancelAll = 1 << 0
	cancelAny = 1 << 2

	probeSupported = 1 << 0
)

// Limits of the kernel.
const (
	maxSQ = 32768
	maxCQ = 65536
	// maxLen is what one read or write transfers at most, as with read(2).
	maxLen = 0x7ffff000
)

// Numbers of Linux's errors that this package tells apart. Those of package syscall
// are not the same on all systems where it compiles.
const (
	errINTR     = syscall.Errno(4)
	errAGAIN    = syscall.Errno(11)
	errNOMEM    = syscall.Errno(12)
	errFAULT    = syscall.Errno(14)
	errBUSY     = syscall.Errno(16)
	errINVAL    = syscall.Errno(22)
	errTIME     = syscall.Errno(62)
	errCANCELED = syscall.Errno(125)
)

// sqe describes one operation.
type sqe struct {
	opcode   Op
	flags    uint8
	ioprio   uint16
	fd       int32
	off      uint64
	addr     uint64
	len      uint32
	opFlags  uint32
	userData uint64
	bufIndex uint16
	_        uint16
	_        int32
	_        uint64
	_        uint64
}

// set describes an operation. It writes each field where it is to stand: a literal is
// put together on the stack, and copying it from there takes longer than all the rest.
// What is not set is zero and stays so: nothing ever writes it.
func (e *sqe) set(op Op, fd int32, off, addr uint64, length, opFlags uint32, s Slot) {
	e.opcode, e.flags, e.ioprio, e.bufIndex = op, 0, 0, 0
	e.fd, e.off, e.addr, e.len, e.opFlags, e.userData = fd, off, addr, length, opFlags, uint64(s)
}

// cqe is the end of one operation.
type cqe struct {
	userData uint64
	res      int32
	flags    uint32
}

type sqOffsets struct {
	head, tail, ringMask, ringEntries, flags, dropped, array, _ uint32

	_ uint64
}

type cqOffsets struct {
	head, tail, ringMask, ringEntries, overflow, cqes, flags, _ uint32

	_ uint64
}

type params struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32

	_     [3]uint32
	sqOff sqOffsets
	cqOff cqOffsets
}

// extArg is the long form of what enter waits for.
type extArg struct {
	sigmask   uint64
	sigmaskSz uint32
	minWait   uint32
	ts        uint64 // address of a timespec
}

// timespec has 64 bits of seconds on all architectures, unlike that of package syscall.
type timespec struct{ sec, nsec int64 }

type probe struct {
	lastOp, opsLen uint8
	_              uint16
	_              [3]uint32
	ops            [256]probeOp
}

type probeOp struct {
	op, _ uint8
	flags uint16
	_     uint32
}

// filesUpdate is struct io_uring_files_update, and io_uring_rsrc_update, which has the
// same shape.
type filesUpdate struct {
	offset uint32
	_      uint32
	data   uint64
}

// Iovec is one piece of a vectored read or write.
type Iovec struct {
	Base *byte
	Len  uintptr
}

// StatxTime is a time in a [Statx].
type StatxTime struct {
	Sec  int64
	Nsec uint32
	_    int32
}

// Statx is what statx(2) tells about a file.
type Statx struct {
	Mask, Blksize                              uint32
	Attributes                                 uint64
	Nlink, UID, GID                            uint32
	Mode                                       uint16
	_                                          uint16
	Ino, Size, Blocks, AttributesMask          uint64
	Atime, Btime, Ctime, Mtime                 StatxTime
	RdevMajor, RdevMinor, DevMajor, DevMinor   uint32
	MntID                                      uint64
	DioMemAlign, DioOffsetAlign                uint32
	Subvol                                     uint64
	AtomicWriteUnitMin, AtomicWriteUnitMax     uint32
	AtomicWriteSegmentsMax, DioReadOffsetAlign uint32
	_                                          [9]uint64
}
