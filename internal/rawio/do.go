package rawio

import (
	"errors"
	"syscall"

	"github.com/iolane/iolane/internal/interrupt"
)

// Do makes op, one system call, in a section of c, and again as long as it returns
// EINTR and c has not been asked to end. It is for system calls that this package
// does not have: ioctl, poll, accept. If an EINTR of op leaves something behind,
// op must know how to go on from there.
//
// op runs locked to its thread if c can be interrupted. It must not block but in
// that system call.
func Do[T any](c *interrupt.Call, op func() (T, error)) (T, error) {
	var none T
	if err := c.Enter(); err != nil {
		return none, err
	}
	defer c.Leave()
	for {
		v, err := op()
		if err == nil || !errors.Is(err, syscall.EINTR) {
			return v, err
		}
		if c.Asked() {
			return none, interrupt.ErrInterrupted
		}
	}
}

// do is Do for system calls without a result.
func do(c *interrupt.Call, op func() error) error {
	_, err := Do(c, func() (struct{}, error) { return struct{}{}, op() })
	return err
}

// count makes the number of bytes what it is for callers: not -1 on errors.
func count(n int, err error) (int, error) { return max(n, 0), err }
