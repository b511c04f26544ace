// Package ioerr is the error model of iolane: one struct, [Error], that says how
// a call ended, who ended it and whether it ran, and the sentinels it carries.
//
// Every error that leaves a pool is an [*Error], returned as error, or gives one that
// stands for several (*pool.GroupError). Two questions, two tools.
//
// [errors.Is] answers what happened. The call's own error stays untouched in the
// chain, so errors.Is(err, fs.ErrNotExist) works as if there were no pool;
// [context.Canceled], [context.DeadlineExceeded], the context's cause and the
// sentinels of this package match too.
//
// [errors.AsType] answers who ended the call and whether it ran:
//
//	if e, ok := errors.AsType[*ioerr.Error](err); ok && e.Effect == ioerr.None {
//		// It never ran: safe to try again.
//	}
//
// What the fields mean together:
//
//	Outcome             Origin        Effect  typical Err
//	Failed              Leaf          Done    what the call returned, *PanicError, *RestoreError
//	Failed              Handle        None    ErrHandleNotFound, ErrWaitersFull, …
//	Failed              Lane          None    ErrQueueFull, ErrKeyBusy, ErrOverloaded, ErrReentry, ErrSaturated
//	Failed              Handle        None    ErrExhausted, ErrBorrowersFull, ErrReturned; *lend.OpenError: of package lend
//	Failed              Executor      None    ErrBatchFull
//	Failed              Handle, Lane  None    *StuckError: a call that does not end holds the handle or the key
//	Failed              Handle        None    *UnfitError: the resource is down or poisoned
//	Failed              Lane          None    *UnsupportedError: the lane does not run such calls; *StartError: no thread; *ConcurrencyError: no slot at once
//	Failed              Handle        Done    opened, but the handle was destroyed meanwhile
//	Failed              Leaf          Done    *HookError, from Destroy or Replace: the disposal failed
//	Failed              Executor      None    *ArgumentError; ErrReentry from Shutdown inside a call
//	Failed              Executor      None    *ThreadLimitError, from New: its lane might need too many threads
//	Failed              Executor      Done    *pool.Report: a hook failed
//	Cancelled, TimedOut Handle, Lane  None    the context's cause: the wait ended there
//	Cancelled, TimedOut Executor      None    the context had ended before the call began
//	Cancelled, TimedOut Lane          None    an operation as data was called off, and has had no effect
//	TimedOut            Handle, Lane  None    ErrAcceptTimeout
//	Cancelled, TimedOut Lane          Unknown *LeftError: the caller has left the call, which runs on
//	ShutdownInProgress  any           None    ErrShutdown
//	ShutdownInProgress  Executor      Done    ErrShutdown: opened, and disposed of at once
//	Cancelled, TimedOut Executor      Unknown Shutdown or Destroy stopped waiting for what goes on
//
// Outcomes of the lifecycle beat all others: once a shutdown has begun the answer
// is ShutdownInProgress, never "not found". A timeout is never reported as a
// cancellation, nor the other way round.
//
// errors.Is also sees what a nested call was refused with, in the error of the call
// around it; Effect tells them apart.
//
// Refusals (a full queue, a busy handle, an acceptance that came too late, a closed
// pool) are built once, when the first call is refused, and allocate nothing when they
// are returned. They name the lane but not the call's label or handle, which the
// refused caller knows. Errors may be shared: they are not to be written to.
package ioerr
