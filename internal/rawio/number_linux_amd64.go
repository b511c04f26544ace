package rawio

// Numbers of system calls that package syscall does not have.
const (
	sysCopyFileRange = 326
	sysPreadv2       = 327
	sysPwritev2      = 328
	sysStatx         = 332
)
