//go:build !(linux || darwin || freebsd)

package rawio

func nextData(fd uintptr, off int64) (start, end int64, err error) { return rest(fd, off) }
