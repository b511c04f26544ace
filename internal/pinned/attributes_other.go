//go:build !linux

package pinned

import "errors"

// supported reports the first field that this platform cannot have.
func supported(c *Config) error {
	switch {
	case len(c.CPUs) > 0:
		return denied("CPUs", errors.ErrUnsupported)
	case c.Nice != 0:
		return denied("Nice", errors.ErrUnsupported)
	case c.IOPriority != IOPriority{}:
		return denied("IOPriority", errors.ErrUnsupported)
	}
	return nil
}

// threadID: numbers of threads cannot be had here without cgo.
func threadID() int { return 0 }

// onMainThread: nor can the main thread be told.
func onMainThread() bool { return false }

func prepare(*Config, int) error { return nil }
