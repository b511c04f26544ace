// Package rawio is single system calls on files that can be interrupted while they
// block. Package os has them too, but begins them anew on every EINTR, so that
// nobody can end them.
//
// Each operation takes an [interrupt.Call], or nil if nobody is to interrupt it.
// It is one system call in one section of that call, and is repeated on EINTR until
// the call has been asked to end. So an EINTR never comes out of here, with the
// exception of [Close]; a caller sees one of
//
//   - the result, also when the call was asked to end in the meantime: what has
//     happened is never called interrupted. A transfer that a signal cuts short
//     returns the bytes that were moved, and no error;
//   - [interrupt.ErrInterrupted]: no bytes were moved, no lock is held, no descriptor
//     was opened. (A file system may have done part of the work, as open with
//     O_CREAT in FUSE, or fsync; it is safe to do that work again.)
//   - the error of the system call, bare: names and paths are the business of callers.
//
// Descriptors are as [os.File.Fd] returns them, and must be in blocking mode to be
// of any use here. They are not checked for reuse: who closes a descriptor waits
// until nobody uses it.
//
// On systems where package interrupt cannot send signals the operations block
// until they are done. What a system does not have is errors.ErrUnsupported.
package rawio
