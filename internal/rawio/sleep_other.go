//go:build !linux

package rawio

import "time"

func nanosleep(d time.Duration) error {
	time.Sleep(d)
	return nil
}
