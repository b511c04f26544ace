//go:build linux && (arm64 || riscv64 || loong64)

package rawio

// Numbers of system calls that package syscall does not have.
const (
	sysCopyFileRange = 285
	sysPreadv2       = 286
	sysPwritev2      = 287
	sysStatx         = 291
)
