//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package rawio

import (
	"errors"
	"io/fs"
	"time"
)

func open(string, int, fs.FileMode) (uintptr, error) { return 0, errors.ErrUnsupported }
func closeFD(uintptr) error                          { return errors.ErrUnsupported }
func read(uintptr, []byte) (int, error)              { return 0, errors.ErrUnsupported }
func write(uintptr, []byte) (int, error)             { return 0, errors.ErrUnsupported }
func pread(uintptr, []byte, int64) (int, error)      { return 0, errors.ErrUnsupported }
func pwrite(uintptr, []byte, int64) (int, error)     { return 0, errors.ErrUnsupported }
func fsync(uintptr) error                            { return errors.ErrUnsupported }
func fdatasync(uintptr) error                        { return errors.ErrUnsupported }
func flock(uintptr, int) error                       { return errors.ErrUnsupported }
func truncate(uintptr, int64) error                  { return errors.ErrUnsupported }
func appendOne(uintptr, []byte) (int, error)         { return 0, errors.ErrUnsupported }
func fstat(uintptr) (Info, error)                    { return Info{}, errors.ErrUnsupported }
func stat(string, bool) (Info, error)                { return Info{}, errors.ErrUnsupported }
func chmod(uintptr, fs.FileMode) error               { return errors.ErrUnsupported }
func setTimes(uintptr, time.Time, time.Time) error   { return errors.ErrUnsupported }
func sameFile(uintptr, uintptr) bool                 { return false }
func rename(string, string) error                    { return errors.ErrUnsupported }
func unlink(string) error                            { return errors.ErrUnsupported }
func rmdir(string) error                             { return errors.ErrUnsupported }
func mkdir(string, fs.FileMode) error                { return errors.ErrUnsupported }
