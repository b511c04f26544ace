package rawio

import (
	"io/fs"
	"syscall"
	"time"
	"unsafe"
)

func truncate(fd uintptr, size int64) error { return syscall.Ftruncate(syscall.Handle(fd), size) }

// appendOne writes at the offset that means the end of the file.
func appendOne(fd uintptr, p []byte) (int, error) {
	var n uint32
	err := syscall.WriteFile(syscall.Handle(fd), p, &n, at(-1))
	return int(n), err
}

const replaceExisting = 1 // MOVEFILE_REPLACE_EXISTING

func rename(from, to string) error {
	f, err := syscall.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := syscall.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	move := syscall.NewLazyDLL("kernel32.dll").NewProc("MoveFileExW")
	ok, _, err := move.Call(uintptr(unsafe.Pointer(f)), uintptr(unsafe.Pointer(t)), replaceExisting)
	if ok == 0 {
		return err
	}
	return nil
}

func unlink(path string) error               { return syscall.Unlink(path) }
func rmdir(path string) error                { return syscall.Rmdir(path) }
func mkdir(path string, _ fs.FileMode) error { return syscall.Mkdir(path, 0) }

// basicInfo is FILE_BASIC_INFO: times of zero stay as they are.
type basicInfo struct {
	times      [4]int64
	attributes uint32
}

func chmod(fd uintptr, perm fs.FileMode) error {
	d, err := byHandle(fd)
	if err != nil {
		return err
	}
	b := basicInfo{attributes: d.FileAttributes &^ syscall.FILE_ATTRIBUTE_READONLY}
	if perm&0o200 == 0 {
		b.attributes |= syscall.FILE_ATTRIBUTE_READONLY
	}
	if b.attributes == 0 { // which would leave them as they are
		b.attributes = syscall.FILE_ATTRIBUTE_NORMAL
	}
	set := syscall.NewLazyDLL("kernel32.dll").NewProc("SetFileInformationByHandle")
	if ok, _, err := set.Call(fd, 0, uintptr(unsafe.Pointer(&b)), unsafe.Sizeof(b)); ok == 0 {
		return err
	}
	return nil
}

func setTimes(fd uintptr, accessed, modified time.Time) error {
	var at [2]*syscall.Filetime
	for i, t := range []time.Time{accessed, modified} {
		if !t.IsZero() {
			ft := syscall.NsecToFiletime(t.UnixNano())
			at[i] = &ft
		}
	}
	return syscall.SetFileTime(syscall.Handle(fd), nil, at[0], at[1])
}

func byHandle(fd uintptr) (d syscall.ByHandleFileInformation, err error) {
	err = syscall.GetFileInformationByHandle(syscall.Handle(fd), &d)
	return d, err
}

func fstat(fd uintptr) (Info, error) {
	d, err := byHandle(fd)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Size:    int64(d.FileSizeHigh)<<32 | int64(d.FileSizeLow),
		Mode:    fileMode(d.FileAttributes),
		ModTime: time.Unix(0, d.LastWriteTime.Nanoseconds()),
		Device:  uint64(d.VolumeSerialNumber),
		Inode:   uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow),
		Links:   uint64(d.NumberOfLinks),
	}, nil
}

func stat(path string, noFollow bool) (Info, error) {
	p, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return Info{}, err
	}
	flags := uint32(syscall.FILE_FLAG_BACKUP_SEMANTICS) // without it no directory
	if noFollow {
		flags |= syscall.FILE_FLAG_OPEN_REPARSE_POINT
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	h, err := syscall.CreateFile(p, 0, share, nil, syscall.OPEN_EXISTING, flags, 0)
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	return fstat(uintptr(h))
}

func fileMode(attributes uint32) fs.FileMode {
	mode := fs.FileMode(0o666)
	if attributes&syscall.FILE_ATTRIBUTE_READONLY != 0 {
		mode = 0o444
	}
	switch {
	case attributes&syscall.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		mode |= fs.ModeSymlink
	case attributes&syscall.FILE_ATTRIBUTE_DIRECTORY != 0:
		mode |= fs.ModeDir | 0o111
	}
	return mode
}

func sameFile(a, b uintptr) bool {
	x, err := byHandle(a)
	if err != nil {
		return false
	}
	y, err := byHandle(b)
	return err == nil && x.VolumeSerialNumber == y.VolumeSerialNumber &&
		x.FileIndexHigh == y.FileIndexHigh && x.FileIndexLow == y.FileIndexLow
}
