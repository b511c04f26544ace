// Package interrupt makes the blocked system call of one running call return
// EINTR, in Go alone: no cgo, and nothing that runs while nobody is interrupted.
//
// A [Signal] is a share in one real-time signal of the process. A [Call] is the
// cancel word of one call and knows the thread that runs it, but only inside a
// section, from [Call.Enter] to [Call.Leave], which holds one system call with
// its retries. [Call.Interrupt] sets the word and sends the signal to that
// thread, again and again, until the section is left.
//
// # States of a call
//
//	none     no section, word not set
//	running  in a section, word not set
//	asked    in a section, word set: the only state in which signals are sent
//	ended    no section, word set: final, since Enter refuses from now on
//
// A call goes back from running to none as often as it likes. Word, section and
// thread change under Call.mu only; the word is atomic as well, so that the retry
// loop of the system call may look at it without the lock.
//
// # The argument
//
// No interrupt is missed. Enter looks at the word under Call.mu, Ask sets it
// before it takes Call.mu: whichever comes second sees the other. So after the
// first Ask the call is either ended or asked, with its thread known. A signal
// that comes before the thread is in the kernel, or that a system call of somebody
// else takes, is without effect; therefore it is sent again, after 50 us, doubling
// to 10 ms, for as long as the section lasts. A system call that returns EINTR
// finds the word set, since the word was set before the signal was sent, and gives
// up instead of trying again.
//
// Nobody else is hit. The goroutine is locked to its thread from before the thread
// is known until after it is forgotten, so the thread can neither end, and its
// number go to another, nor run another goroutine. The signal is sent under
// Call.mu, and Leave takes Call.mu to forget the thread: no signal is sent after
// that. A signal that was sent but has not arrived is taken by the thread in
// Leave, before the thread is unlocked: every return from the kernel delivers what
// is pending, so Leave makes one more trivial system call if a signal was sent.
// What the thread does next meets no EINTR of ours. The one exception is on
// purpose: where the section of one call encloses that of another, the inner one
// sees EINTR, finds its own word not set and tries again.
//
// The kernel's part. Enter lets the signal in where the thread blocks it, as do the
// threads of a process that was started so, or those of C code that call into Go;
// Leave then blocks it again. The handler of the signal does nothing, does not ask for
// SA_RESTART and belongs to no one: it is a return instruction of this package and
// not the handler of the Go runtime. So os/signal does not see the signal, not
// even for a program that is notified of all signals. And a program that calls
// os/signal.Ignore at the wrong moment is safe, where the runtime's own handler
// would end the process: it treats a signal that arrives while it is being
// switched off as fatal. Whoever else sets the handler of this signal (os/signal
// does when the program ignores it and then asks for it again, with SA_RESTART)
// is found out before the next send, and the handler is put back. After the last
// release the signal is again what it last was to others, but not before
// every signal sent has arrived.
//
// Locks are taken in the order Set.mu, Call.mu, and the lock of the signal's
// disposition; none is held while waiting.
//
// # Limits
//
// Linux on amd64, 386 and arm64. Elsewhere [Take] says errors.ErrUnsupported, and a
// Call without a signal is asked between its system calls only. A system call that
// no signal can end (a disk that does not answer, NFS) ends when it ends; the
// signal stays pending and is not sent twice, since the kernel counts
// pending ones against a limit of the user.
package interrupt
