package rawio

import (
	"time"

	"github.com/iolane/iolane/internal/interrupt"
)

// Nanosleep blocks the thread for d, by the monotonic clock. Whatever else the
// thread is woken by, it sleeps until then, no shorter; only an interrupt ends it
// earlier. On systems without the system call it is [time.Sleep].
func Nanosleep(c *interrupt.Call, d time.Duration) error {
	end := time.Now().Add(d)
	return do(c, func() error { return nanosleep(time.Until(end)) })
}
