// Package pinned runs tasks on goroutines that are locked to operating system threads,
// for tasks that need a thread of their own: libraries that are bound to a thread,
// namespaces, credentials, priorities, affinity.
//
// [Threads] are N such threads, numbered from 0. A caller hands a [Task] over, by
// [Threads.Hand], alone or several at once, and waits until it has run.
// How many callers come at a time is not the business of this package: a gate in front
// of it lets in N, and then there is a thread for each that comes. Callers beyond N, and
// those that come while a thread is being replaced, wait in a line until a thread is
// free, their context ends, or no thread is left that could serve them. The line has no
// bound of its own.
//
// # Replacement
//
// A thread is replaced when its task has tainted it ([Thread.Taint]), when a restore
// function has failed ([Thread.Restore]) and when a task has ended its goroutine
// (runtime.Goexit). Its goroutine then ends while it is locked, so the runtime ends the
// thread, and nobody else ever meets the state it is in. The replacement has the same
// number; Stop has returned for a thread before Start is called for the next of that
// number. It does not inherit the state either: what a locked goroutine needs in new
// threads, the runtime starts from one that no goroutine was ever locked to.
//
// Where the death of a thread would signal children (PR_SET_PDEATHSIG goes by the thread
// that started the child, not by its process), Config.Keep lets tainted threads sleep
// until Close instead.
//
// A replacement that cannot start leaves its number vacant. Another attempt is made by
// each caller that finds nobody to come for it, and by each thread that takes a job and
// leaves one for which nobody comes; never two at a time, and none while nobody wants
// the thread. A failed attempt fails nobody as long as there is another thread; when
// every number is vacant, whoever waits gets the last *ioerr.StartError.
//
// # The main thread
//
// The main thread of a process never ends before the process, and much of the system
// takes its state for that of the process. So none of the threads is the main thread. A
// goroutine that finds itself on it stays locked there until another one has locked the
// thread that it is on, which therefore is not the main thread, and takes over. Only
// then is the main thread given back, unchanged. Linux tells it by its number; elsewhere
// it cannot be told without cgo, and there the runtime lets a main thread that should
// end sleep for ever.
//
// # The argument
//
// All is decided under one mutex, in critical sections of a few instructions: there is a
// line of jobs, a stack of idle threads, and the one thread that was roused and has not
// come yet (flight). The law, between any two critical sections:
//
//	the line is not empty and the stack is not empty  =>  flight is set
//
// Whoever adds to the line rouses an idle thread, unless one is in flight. A thread
// becomes idle only where it finds the line empty. A roused thread clears flight in the
// same critical section in which it looks at the line, and if it takes a job and leaves
// another it rouses the next there. Nothing else adds to either side or clears flight,
// so the law holds. A roused thread has been taken off the stack and gets one token (see
// internal/signal), posted after the mutex was left; nobody can rouse it again before it
// is idle again. So no job waits beside a sleeping thread for longer than one of them
// takes to wake, and a burst wakes no more threads than it can use.
//
// A thread takes one job at a time from the line, and goes on without sleeping while
// there are any. No job ever stands behind another one of the same thread while a second
// thread could take it; that is its fair share, and why it needs no quota. Only a batch
// stays together, on one thread and in its order: its caller wanted that. If its thread
// is tainted half-way, the rest goes to the front of the line.
//
// Nobody waits for ever. A job leaves the line when a thread takes it, when its caller's
// context ends, when every number is vacant, or when its caller is inside a task and only
// a thread that runs one could come for it; each critical section looks at the last two
// that adds a job or makes a number vacant. A number that is not vacant belongs to a
// goroutine that will yet look at the line or make the number vacant. Close lets threads
// end only where they find the line empty, and replaces a tainted one while it is not.
//
// # The price of a wake-up
//
// To wake a locked goroutine is to wake its thread in the kernel, whatever the
// primitive: channels, sync.Cond and the semaphore of sync.Mutex are within each other's
// noise, 6 to 10 us there and back where the kernel puts both threads on one processor
// and 15 to 40 us where it does not. Spinning before sleeping does not help: a goroutine
// that spins keeps its processor from the very caller it waits for, and with enough
// patience to matter the round trip took up to three times as long. A blocking system
// call of our own (a futex, a pipe) in place of a sleeping goroutine would hold a
// processor of the Go runtime for up to 10 ms. So threads sleep on a channel, and the
// price is shared out: over batches, and by threads that take what waits before they
// sleep.
package pinned
