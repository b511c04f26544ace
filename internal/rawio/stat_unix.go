//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rawio

import "syscall"

func oldFstat(fd uintptr) (Info, error) {
	var st syscall.Stat_t
	err := syscall.Fstat(int(fd), &st)
	return fromStat(&st, err)
}

func oldStat(path string, noFollow bool) (Info, error) {
	var st syscall.Stat_t
	how := syscall.Stat
	if noFollow {
		how = syscall.Lstat
	}
	err := how(path, &st)
	return fromStat(&st, err)
}

func fromStat(st *syscall.Stat_t, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return Info{
		Size:    st.Size,
		Mode:    fromMode(uint32(st.Mode)), //nolint:unconvert // of other types on other systems, as are those below
		ModTime: modTime(st),
		Device:  uint64(st.Dev),   //nolint:unconvert // see above
		Inode:   uint64(st.Ino),   //nolint:unconvert // see above
		Links:   uint64(st.Nlink), //nolint:unconvert // see above
		Blocks:  int64(st.Blocks), //nolint:unconvert // see above
	}, nil
}

func sameFile(a, b uintptr) bool {
	var x, y syscall.Stat_t
	return syscall.Fstat(int(a), &x) == nil && syscall.Fstat(int(b), &y) == nil &&
		x.Ino == y.Ino && x.Dev == y.Dev
}
