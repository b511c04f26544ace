package pinned

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/iolane/iolane/ioerr"
)

func TestConfigIsRefusedByField(t *testing.T) {
	for name, c := range map[string]Config{
		"Workers":    {Threads: 0},
		"Name":       {Threads: 1, Name: "a\x00b"},
		"CPUs":       {Threads: 1, CPUs: [][]int{{0}, {}}},
		"Nice":       {Threads: 1, Nice: 20},
		"IOPriority": {Threads: 1, IOPriority: IOPriority{Level: 3}},
		"Keep":       {Threads: MaxThreads, Keep: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(c)
			e, ok := errors.AsType[*ioerr.ArgumentError](err)
			if s != nil || !ok || e.Name != "lane.PinnedConfig."+name || !errors.Is(err, fs.ErrInvalid) {
				t.Fatalf("got %v, %v", s, err)
			}
		})
	}
	for _, c := range []Config{
		{Threads: MaxThreads + 1},
		{Threads: 1, CPUs: [][]int{{-1}}},
		{Threads: 1, CPUs: [][]int{{maxCPU}}},
		{Threads: 1, Nice: -21},
		{Threads: 1, IOPriority: IOPriority{Class: IOIdle, Level: 1}},
		{Threads: 1, IOPriority: IOPriority{Class: IOIdle + 1}},
		{Threads: 1, IOPriority: IOPriority{Class: IOBestEffort, Level: 8}},
		{Threads: 1, Keep: -1},
	} {
		if err := c.check(); !errors.Is(err, ioerr.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestUnsupportedFieldIsNamed(t *testing.T) {
	err := denied("Nice", errors.ErrUnsupported)
	for _, target := range []error{errors.ErrUnsupported, ioerr.ErrUnsupported} {
		if !errors.Is(err, target) {
			t.Errorf("%v does not match %v", err, target)
		}
	}
	if err := denied("Nice", fs.ErrPermission); errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v: what is forbidden can be done by others", err)
	}
	for _, c := range []Config{
		{Threads: 1, CPUs: [][]int{{0}}},
		{Threads: 1, Nice: 1},
		{Threads: 1, IOPriority: IOPriority{Class: IOIdle}},
	} {
		if err := supported(&c); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
