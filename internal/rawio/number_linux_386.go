package rawio

// Numbers of system calls that package syscall does not have.
const (
	sysCopyFileRange = 377
	sysPreadv2       = 378
	sysPwritev2      = 379
	sysStatx         = 383
)
