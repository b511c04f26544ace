//go:build linux && !(amd64 || 386 || arm64 || riscv64 || loong64)

package rawio

// Numbers that no kernel knows: on these architectures everything goes the way of an
// old kernel, which says ENOSYS.
const (
	sysCopyFileRange = 0xffff
	sysPreadv2       = 0xffff
	sysPwritev2      = 0xffff
	sysStatx         = 0xffff
)
