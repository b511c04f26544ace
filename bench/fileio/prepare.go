package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// lump is how much is written or read at a time.
const lump = 1 << 20

// prepare writes the file, or the beginning of the device, that cases with random offsets
// work on.
func prepare(name string, size int64) (err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	pattern, buf := work.NewPattern(), make([]byte, lump)
	pattern.Fill(buf, 0)
	for off := int64(0); off < size; off += lump {
		pattern.Stamp(buf, off)
		if _, err := f.WriteAt(buf, off); err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return errors.Join(f.Sync(), system.Forget(f))
}

// warm brings the page cache into the state that the case begins with.
func warm(name string, c work.Case) (err error) {
	if !c.NeedsFile() || c.Cache == work.Direct {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var size int64
	switch c.Cache {
	case work.Hot:
		size = c.Range
	case work.Half:
		size = c.Range / 2
	case work.Cold, work.Direct:
	}
	if err := f.Sync(); err != nil { // what is not on the disk cannot be forgotten, and would disturb the next one
		return err
	}
	if c.Cache != work.Hot {
		if err := system.Forget(f); err != nil {
			return err
		}
	}
	buf := make([]byte, lump)
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(f, size), buf)
	return err
}
