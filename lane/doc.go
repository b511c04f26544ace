// Package lane bounds where and how many blocking calls run.
//
// A [Lane] hands out slots. A call enters (which may mean waiting), runs, and
// leaves. The lanes here run it on the caller's own goroutine: a goroutine is
// cheap already, so what needs a bound is the call, not the goroutine, and
// nothing is handed over, boxed or allocated. Most programs use lanes through a
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
package lane
