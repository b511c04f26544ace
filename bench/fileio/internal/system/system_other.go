//go:build !linux || !(amd64 || arm64)

package system

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// Direct is the flag of open that goes past the page cache: none here.
const Direct = 0

// Supported says that nothing can be measured here.
func Supported() error {
	return fmt.Errorf("files are measured on Linux for amd64 and arm64, not on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

// Allocate is not there.
func Allocate(*os.File, int64) error { return Supported() }

// Forget is not there.
func Forget(*os.File) error { return Supported() }

// NoReadAhead is not there.
func NoReadAhead(*os.File) error { return Supported() }

// Map is not there.
func Map(int, bool) ([]byte, error) { return nil, Supported() }

// Unmap is not there.
func Unmap([]byte) error { return Supported() }

// Pread is not there.
func Pread(uintptr, []byte, int64) (int, error) { return 0, Supported() }

// Pwrite is not there.
func Pwrite(uintptr, []byte, int64) (int, error) { return 0, Supported() }

// CPUTime is not there.
func CPUTime() time.Duration { return 0 }

// Lock is not there.
func Lock(string) (unlock func(), err error) { return nil, Supported() }
