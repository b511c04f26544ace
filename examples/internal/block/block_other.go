//go:build !linux

package block

import "time"

// For sleeps. It holds a thread on Linux only.
func For(d time.Duration) error {
	time.Sleep(d)
	return nil
}

// Holds is whether For holds a thread.
const Holds = false
