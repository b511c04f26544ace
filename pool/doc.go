// Package pool runs blocking calls, a bounded number at a time, and owns the
// resources that they use.
//
// A pool of calls that need no resource is a Pool[struct{}]; this one has files:
//
//	files, err := pool.New(pool.Config[*os.File]{Dispose: (*os.File).Close})
//	if err != nil {
//		return err
//	}
//	defer files.Close()
//
//	// A call that needs no resource.
//	data, err := pool.Run(ctx, files, func(context.Context) ([]byte, error) {
//		return os.ReadFile(name)
//	})
//
//	// A resource that the pool owns, and a transaction on it.
//	id, err := files.Register(ctx, func(context.Context) (*os.File, error) {
//		return os.Open(name)
//	})
//	n, err := pool.Transact(ctx, files, id, func(_ context.Context, f *os.File) (int, error) {
//		return f.Read(buf)
//	})
//
// # What a call goes through
//
// The pool must be open; a transaction then waits for its handle, in order; the
// call then waits for the lane, in order; it runs, to its end; the handle and the
// slot are given back; the result is returned. Whoever waits for a busy handle
// holds no place in the lane. All waits are bounded in number, and end with the
// caller's context.
//
// # Cancellation
//
// A context that ends while the call waits takes it out of the queue, and the
// call never runs. A context that ends while the call runs does not end the call,
// since nothing can end a blocking system call in general: the caller waits and
// gets the real result, never "cancelled" for something that happened. A call that
// can be interrupted does so by the context that it is given.
//
// A call that may never return is made by [Offload] or [OffloadOn], on a
// lane.Abandoning. It runs on a goroutine of the lane's, and its caller leaves it when
// its context or the lane's limit has ended. Config.Interrupt ends calls on resources
// that can be told to.
//
// # Resources that many use at a time
//
// A resource that is safe for concurrent use, such as a file that is read at given
// positions, need not be exclusive: Config.Share calls use it at a time, and wait for a
// share when there is none. It is disposed of when the last share has been given back.
//
// # Operations as data
//
// [Pool.Operate] and [Pool.OperateAll] have file operations done that are given as data. A
// lane.Operator does them by itself, without a thread for each; on any other lane they are
// calls. [Pool.Fiber] runs a function that does many of them, one after the other.
//
// # Resources that are not well
//
// Config.Health judges resources by the calls that use them: by how long these took once
// they ran, by their errors, and by those that do not end. One that is down is not used,
// and its callers are told so at once, until a probe finds it well. A call that left its
// resource unfit for use says so itself ([Poison]).
//
// # Seeing what goes on
//
// [Pool.Stats] counts. [Pool.Dump] tells people who holds what and who waits. Config.Watch
// and Config.OnEvent report what takes too long while it does, with no need for a slot or
// a goroutine of the pool's that could be stuck, too.
//
// # Calls side by side
//
// [Async] starts a call and returns a [Future]; [Concurrent] does so only if the call runs
// beside its caller, at once. A [Group] is a set of calls that are waited for, and called
// off, together; [Group.After] has a call wait for its time without a slot and without a
// goroutine. [First] and [Race] want one result of many calls, and see to those of the others.
// A [Batch] is calls whose room is allocated once; a [BatchOn] is many calls on one resource in
// one transaction.
//
// # Nested calls
//
// A call may make calls of its own, on the same pool or others, and must pass on the context
// that it was given, not the one of its caller: that is how a call is told apart that would
// wait for itself. With another context it does wait. On the lane that it runs on, a nested
// call takes a free slot or is refused with ErrReentry, because waiting could be for itself;
// so is a transaction on a handle that its caller holds already, or that somebody else holds,
// who may be waiting for the lane. Other lanes work as always: that is what two pools are for.
//
// The context also tells Shutdown and Destroy that they are called from inside a
// call. It is for the call alone: kept beyond it, it may be taken for that of a
// call that still runs.
//
// # Goroutines and threads
//
// A call runs on the goroutine that made it. (So runtime.Goexit in it ends that
// goroutine; everything is given back all the same.) But [Offload] and [OffloadOn], and on
// their lanes Register and Replace, run on a goroutine (lane.Abandoning) or on a thread
// (lane.Pinned) of the lane's. A pool starts goroutines only where there is something to
// do beside calls: to dispose of resources, to probe or interrupt them, to deliver events. None is
// left when Shutdown returns without an error.
// A call that blocks in the kernel holds one operating system thread meanwhile.
package pool
