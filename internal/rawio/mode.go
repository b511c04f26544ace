package rawio

import (
	"io/fs"
	"time"

	"github.com/iolane/iolane/internal/uring"
)

// The mode of a file, the same on all systems that have one.
const (
	modeType   = 0o170000
	modeSocket = 0o140000
	modeLink   = 0o120000
	modeBlock  = 0o060000
	modeDir    = 0o040000
	modeChar   = 0o020000
	modeFIFO   = 0o010000
	modeSetUID = 0o4000
	modeSetGID = 0o2000
	modeSticky = 0o1000
)

// Mode is perm as open(2) and mkdir(2) want it: package fs has other bits for three of
// them.
func Mode(perm fs.FileMode) uint32 {
	m := uint32(perm.Perm())
	if perm&fs.ModeSetuid != 0 {
		m |= modeSetUID
	}
	if perm&fs.ModeSetgid != 0 {
		m |= modeSetGID
	}
	if perm&fs.ModeSticky != 0 {
		m |= modeSticky
	}
	return m
}

// fromMode is the mode of a file in the words of package fs.
func fromMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & modeType {
	case modeDir:
		mode |= fs.ModeDir
	case modeLink:
		mode |= fs.ModeSymlink
	case modeFIFO:
		mode |= fs.ModeNamedPipe
	case modeSocket:
		mode |= fs.ModeSocket
	case modeBlock:
		mode |= fs.ModeDevice
	case modeChar:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	}
	if m&modeSetUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&modeSetGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&modeSticky != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// StatxMask is what to ask statx for, so that [FromStatx] has all that it needs: what stat
// tells, and the alignment of direct I/O.
const StatxMask = 0x7ff | statxDirect

const statxDirect = 0x2000

// FromStatx is what the kernel of Linux has told by statx.
func FromStatx(st *uring.Statx) Info {
	i := Info{
		Size:    int64(st.Size),
		Mode:    fromMode(uint32(st.Mode)),
		ModTime: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		Device:  device(st.DevMajor, st.DevMinor),
		Inode:   st.Ino,
		Links:   uint64(st.Nlink),
		Blocks:  int64(st.Blocks),
	}
	if st.Mask&statxDirect != 0 {
		i.DirectMem, i.DirectOff = int(st.DioMemAlign), int(st.DioOffsetAlign)
	}
	return i
}

// device is the number of a device, as stat(2) has it.
func device(major, minor uint32) uint64 {
	return uint64(minor&0xff) | uint64(major&0xfff)<<8 | uint64(minor&^0xff)<<12 | uint64(major&^0xfff)<<32
}
