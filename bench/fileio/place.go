package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// place is where files are measured.
type place struct {
	prefix string // of the names of cases
	about  string
	device string // empty: a folder
	dir    string
	direct error // why there are no direct transfers
	remove func() error
}

// newPlace makes it.
func newPlace(ctx context.Context, o options) (*place, error) {
	if o.loop != "" {
		return loopPlace(ctx, o)
	}
	dir, err := os.MkdirTemp(o.dir, "fileio")
	if err != nil {
		return nil, err
	}
	return &place{
		dir: dir, about: "in " + o.dir + ": " + fileSystem(dir), direct: tryDirect(filepath.Join(dir, "try")),
		remove: func() error { return os.RemoveAll(dir) },
	}, nil
}

// tryDirect finds out whether the file system can.
func tryDirect(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|system.Direct, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// memory is a file system in memory that every Linux has.
const memory = "/dev/shm"

// loopPlace makes a loop device over a file in memory. Both are gone when this process is,
// however that ends: the file has no name any more, and the device is told to go when
// nobody has it open.
func loopPlace(ctx context.Context, o options) (*place, error) {
	size, err := bytesOf(o.loop)
	if err != nil {
		return nil, fmt.Errorf("-loop: %w", err)
	}
	if err := roomInMemory(size); err != nil {
		return nil, err
	}
	image, err := os.CreateTemp(memory, "fileio")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(image.Name()) }()
	if err := errors.Join(image.Truncate(size), image.Close()); err != nil {
		return nil, err
	}
	device, err := losetup(ctx, "-f", "--show", image.Name())
	if err != nil {
		return nil, err
	}
	open, err := os.OpenFile(device, os.O_RDWR, 0)
	_, detached := losetup(context.Background(), "-d", device)
	if err := errors.Join(err, detached); err != nil {
		return nil, err
	}
	return &place{
		device: device, prefix: "loop/", remove: open.Close,
		about: "on " + device + ", a loop device over " + memory + " of " + o.loop,
	}, nil
}

// roomInMemory refuses what would leave the machine without memory.
func roomInMemory(size int64) error {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "MemAvailable:" {
			kb, err := strconv.ParseInt(words[1], 10, 64)
			if err == nil && size > kb<<10/4*3 {
				return fmt.Errorf("-loop: %d MiB are more than three quarters of the %d MiB of memory that are free", size>>20, kb>>10)
			}
		}
	}
	return nil
}

func losetup(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "losetup", args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("no loop device (it takes root and losetup): %w: %s", err, text)
	}
	return text, nil
}

// file is what a case works on.
func (p *place) file(c work.Case) string {
	switch {
	case c.Block == 0:
		return ""
	case p.device != "":
		return p.device
	case c.Sequential:
		return filepath.Join(p.dir, "sequential")
	}
	return filepath.Join(p.dir, "data")
}

// unfit says why a case cannot be measured here.
func (p *place) unfit(c work.Case) string {
	switch {
	case c.Block == 0 && p.device != "":
		return "needs no device"
	case c.Block > 0 && c.Cache == work.Direct && p.direct != nil:
		return fmt.Sprintf("the file system knows no direct transfers: %v; see -dir", p.direct)
	}
	return ""
}

// fileSystem is the type and the device of the file system of a folder.
func fileSystem(dir string) string {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "unknown"
	}
	found, longest := "unknown", 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 3 || len(words[1]) < longest {
			continue
		}
		if dir == words[1] || strings.HasPrefix(dir, strings.TrimSuffix(words[1], "/")+"/") {
			found, longest = words[2]+" on "+words[0], len(words[1])
			found += scheduler(words[0])
		}
	}
	return found
}

// scheduler of a disk.
func scheduler(device string) string {
	text, err := os.ReadFile("/sys/block/" + filepath.Base(device) + "/queue/scheduler")
	if err != nil {
		return ""
	}
	return ", scheduler " + strings.TrimSpace(string(text))
}
