package file

import (
	"runtime/debug"

	"github.com/iolane/iolane/ioerr"
)

// guarded is what do says of its operation, or the error for its panic. A context of somebody's
// making may panic when it is asked, and on a goroutine of this package's that would end the
// process. The lanes ask before an operation has begun, or when it has ended.
func (p *Pool) guarded(op *Op, do func() error) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		e := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Lane: p.lane, Err: ioerr.ErrGoexit}
		if r := recover(); r != nil {
			e.Err = &ioerr.PanicError{Value: r, Stack: debug.Stack()}
		}
		if op.N > 0 || op.Err != nil {
			e.Effect = ioerr.Done
		}
		err = e
	}()
	err = do()
	returned = true
	return err
}
