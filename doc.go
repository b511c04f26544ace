// Package iolane bounds blocking I/O. It is the front page of its module and
// holds no code; the packages are listed below.
//
// # What it is for
//
// A Go program that makes blocking calls (files on disks and network mounts,
// flock, fsync, ioctl, statfs, C libraries, slow name look-ups) holds one
// operating system thread for each call in progress, and nothing bounds them: a
// hung mount takes one more thread with every retry, and at 10,000 the runtime
// ends the process. iolane runs such calls through lanes that have a fixed
// number of slots and a bounded queue. It is meant for programs that wrap system
// calls in services, serve file systems, or must push back when storage is slow.
//
// Network sockets need none of this, for the runtime parks them without a
// thread; nor is it a scheduler for work that keeps a processor busy.
//
// # Which package to open
//
//   - [github.com/iolane/iolane/pool] first: a Pool runs calls, and owns resources
//     that one call at a time may use.
//   - [github.com/iolane/iolane/lane]: where calls run, how many at once, how many
//     may queue, and who is refused. A lane can be shared by several pools.
//   - [github.com/iolane/iolane/handle]: the IDs by which resources are named.
//   - [github.com/iolane/iolane/file]: files as resources that many calls use at a time,
//     and operations on them as values.
//   - [github.com/iolane/iolane/lend]: resources that are as good as one another, such as
//     connections to one server, lent to whoever comes.
//   - [github.com/iolane/iolane/ioerr]: what went wrong, who said so, and whether
//     the call ran.
//   - [github.com/iolane/iolane/lane/lanetest]: checks that a lane of your own
//     keeps the laws.
//
// # Promises
//
//   - Bounded: slots, queue, those who wait for the queue and those who wait for a
//     handle each have a limit. Whoever is beyond it gets a typed error at once.
//   - An accepted call has exactly one outcome. A refused call never ran.
//   - A queue and the line before a handle are served in order, and nobody starves:
//     a call that begins just then may pass the head of a queue only until the head
//     has waited for the lane's patience, by default a millisecond.
//   - Slots, leases and resources are given back by whoever runs the call, when it
//     really ends, also when it panics; never by a caller that has left.
//   - Shutdown refuses newcomers, wakes whoever waits, runs what was accepted,
//     disposes of every resource once, and returns when the last goroutine has gone.
//   - Nothing runs before a constructor is called, and no code of the user runs
//     under a lock.
//
// # No promises
//
//   - A system call in progress is not interrupted. When the context ends while a
//     call runs, its caller waits for it, unless the call was made by pool.Offload
//     on a lane.Abandoning: then the caller leaves it, and it runs on; or, on Linux
//     and if the lane is told to, it is interrupted first.
//   - Calls need not end in the order in which they began.
//   - Nothing is coordinated between processes.
package iolane
