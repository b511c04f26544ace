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
// device, so that a slow one does not take the slots of a fast one. Stay well
// below the runtime's limit of 10,000 threads over all lanes together.
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
