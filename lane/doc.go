// Package lane bounds where and how many blocking calls run.
//
// A [Lane] hands out slots. A call enters (which may mean waiting), runs, and
// leaves, on the caller's own goroutine: a goroutine is cheap already, so what needs a
// bound is the call, not the goroutine, and nothing is handed over, boxed or
// allocated. Most programs use lanes through a
// pool; alone, a lane is a semaphore with a bounded queue:
//
//	slot, err := l.Enter(ctx, lane.Call{})
//	if err != nil {
//		return err
//	}
//	defer l.Leave(slot)
//
// # The lanes
//
//   - [Threads]: at most Workers calls at a time. The default.
//   - [Sharded]: several such gates with queues of their own, to keep tenants or
//     failure domains apart.
//   - [Inline]: no bound, no queue. For tests and plain programs.
//   - [Abandoning]: for calls that may never return. It can run a call on a goroutine
//     of its own ([Carrier]), whose caller leaves it when its time has come.
//   - [Pinned]: for what is bound to a thread. Calls run on threads of the lane's own,
//     which come up with a hook of yours and are replaced when a call has spoilt them.
//   - [Ring]: for files at depth. Operations of package file are done by io_uring, without
//     a thread for each ([Operator]); functions run on threads.
//
// Another type can be a lane too; lane/lanetest tells whether it keeps the laws.
//
// # The laws of a lane
//
//   - Never more calls run than there are slots.
//   - Refused means never run. Enter returns a slot or an error, never both.
//   - The queue is bounded twice: the first Queue callers are accepted, the next
//     Waiters wait for acceptance, the rest is refused (ErrQueueFull for a call
//     that fails fast, else ErrOverloaded).
//   - The queue is served in order. A waiter can be overtaken only by calls that
//     start while it has waited less than Patience. Nobody starves.
//   - A caller whose context ends before its call starts leaves the queue at
//     once, frees its place, and never runs.
//   - Shutdown refuses newcomers and callers not yet accepted, runs the accepted
//     ones, and returns when the last call has left.
//
// # Choosing Workers
//
// A blocking call holds an operating system thread while it runs, so Workers is
// the number of threads the lane may cost. For calls that mostly use the
// processor or hit the page cache, GOMAXPROCS (the default) is right. For
// devices, choose the queue depth that the device likes: 1 or 2 for a spinning
// disk (more only makes it seek), 8 to 64 for a solid state disk or a network
// file system, and a lane (or a key with a limit, see Config.PerKey) for each
// device, so that a slow one does not take the slots of a fast one.
//
// # Threads
//
// The Go runtime ends the process, and nothing can catch that, when it needs more
// threads than debug.SetMaxThreads allows (10,000 by default) or the system does; and it
// never gives a thread back that a call has blocked. So a lane is refused with an
// *ioerr.ThreadLimitError, when it is made or grows, if all lanes of the process
// together might need more threads than it may have. What a lane might need:
//
//   - Threads: Workers
//   - Sharded: Shards x Workers
//   - Abandoning: Workers + Left
//   - Pinned: Workers + Keep
//   - Ring: Threads + Rings x (1 + 2 x KernelThreads)
//   - Inline: it has no bound, and does not count
//
// A lane whose calls do not block their threads says so with Config.Threadless, and
// does not count either.
//
// What the process may have is the least of debug.SetMaxThreads and, on Linux, RLIMIT_NPROC
// (not for root, nor with CAP_SYS_RESOURCE or CAP_SYS_ADMIN: the kernel makes the same
// exception), pids.max of its cgroups up to the highest that it can see, less what others in
// them have, and threads-max and pid_max of the kernel; less GOMAXPROCS and 16, for the
// runtime and what blocks outside of lanes. Leave more room where more blocks there: name
// look-ups, programs that are waited for, hooks of a pool that hang (up to 32 each), and
// pool.Config.Interrupt where it blocks. Threads that other processes of the same user have
// under RLIMIT_NPROC are not known.
//
// The limits are read when the first lane is made, which takes a tenth of a millisecond
// or so, and again before a lane is refused, since they may have been raised. When
// they are lowered, nobody is told. debug.SetMaxThreads can only be read by setting it; it is put back
// at once, but a program that calls it at that very moment may be told the wrong
// former value.
//
// A lane gives its threads back to the others when Shutdown has returned nil, and also
// when it has been forgotten and collected; but a [Pinned] lane, whose threads are there,
// and a [Ring], whose driver is, must be shut down. After a Resize to fewer slots, calls
// that run beyond them keep their threads until the next Resize.
//
// # What is bound to a thread
//
// A goroutine moves from thread to thread, and what it leaves there others find. That is
// wrong for C libraries that keep their state in the thread, and dangerous for what
// Linux keeps for each thread: namespaces, users, capabilities, the umask and the
// directory after unshare, priorities. [Pinned] runs such calls on threads of its own:
//
//	l, err := lane.NewPinned(lane.PinnedConfig{
//		Config: lane.Config{Name: "gl", Workers: 1},
//		Start:  func(int) error { return gl.MakeContext() },
//		Stop:   func(int) { gl.FreeContext() },
//	})
//	…
//	windows, err := pool.New(pool.Config[*Window]{Lane: l, OwnsLane: true, Dispose: closeWindow})
//	id, err := windows.Register(ctx, openWindow)
//	frame, err := pool.OffloadOn(ctx, windows, id, draw)
//
// Opening, use and disposal all happen on threads of the lane. What would run on its
// caller's thread (pool.Run, Transact, Scoped) is refused with an
// *ioerr.UnsupportedError.
//
// A call that changes its thread says how to undo it ([Thread.Restore]) or that the
// thread is not to be used again ([Thread.Taint]); see [Pinned]. The replacement is not
// born of the spoilt thread, and nobody else ever runs on that. A call must make raw
// system calls for its own thread (syscall.RawSyscall): syscall.Setuid and its like
// change every thread of the process.
//
// It costs 10 us and more to wake a thread and be woken by it, and so many callers at a
// time as there are Workers. So let one call do many things, or hand over many tasks at
// once ([Pinned.CarryBatch]); keep slow callers apart by keys (Config.PerKey).
//
// # GOMAXPROCS
//
// A goroutine in a system call keeps its processor (a P of the Go runtime) until the
// runtime's monitor takes it away. That looks every 20 us when it is busy and every
// 10 ms when it has found nothing to do for a while, and takes a processor only from
// a call that it meets twice. So calls that block for less than 10 ms may run one
// after another on each processor, however many slots there are: on one processor 64
// calls of 5 ms, in a lane of 8, took 323 ms where 40 would do. No lane and no pool
// of workers can change that. Where short blocking calls are what a program mostly
// does, let it set GOMAXPROCS to the number of cores plus the number of slots, so
// that there is a processor for each call; BenchmarkBlocking in the root of the
// module shows what that is worth on a machine. Calls that mostly find their data in
// the page cache gain nothing by it.
package lane
