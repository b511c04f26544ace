// Package file is files as resources of a pool, and what is done with them as values.
//
//	files, err := file.NewPool(file.Config{Threads: lane.Config{Workers: 8}})
//	if err != nil {
//		return err
//	}
//	defer files.Close()
//
//	f, err := files.Open(ctx, name, os.O_RDWR, 0)
//	if err != nil {
//		return err
//	}
//	defer f.Close(context.WithoutCancel(ctx))
//
//	n, err := f.ReadAt(ctx, buf, 0)
//
// # Operations
//
// An [Op] says what is to be done: [ReadAt], [WriteAt], [Sync], [Rename], … make one.
// [Pool.Do] has it done, [Pool.DoAll] many at the same time, and the methods of [File] and
// Pool are short for the two steps. An Op is used again by another Do.
//
// # Lanes
//
// Where operations are done is for the lane to say, and the same program runs on all of
// them: Config.Lane is the one line that changes. On lanes that bound calls (Threads,
// Sharded, Inline) an operation is a system call on its caller's goroutine. On
// lane.Abandoning the caller may leave one that hangs; on lane.Pinned a thread of the
// lane makes it. On lane.Ring the kernel does what it can without a thread; [Pool.Fiber] then
// costs least.
//
// What this package has no operation for, such as reading a directory, is a call on the same
// lane: pool.Offload with [Pool.Pool], which also lane.Pinned takes.
//
// # Many at a time
//
// A file is used by as many operations at a time as the lane allows (Config.Share); they
// are not put in order. [File.Close] lets those that run come to their end, refuses those
// that have not begun (ioerr.ErrHandleNotFound), and then closes the descriptor. So no
// operation ever meets the descriptor of another file.
//
// # Cancellation
//
// An operation whose context ends before it begins is not done. One that runs is
// waited for, and what it returns has happened. There are three ways out:
//
//   - A lane.Ring calls off a Read or Write that waits, of a pipe, say: it has had no effect
//     then (ioerr.None). All other operations, opening among them, are system calls there,
//     too.
//   - With Config.Interrupt, on Linux, a signal makes a system call return that is blocked
//     (open of a FIFO, a lock, a pipe).
//   - A disk that does not answer can only be left (lane.Abandoning): then the error is an
//     *ioerr.LeftError, and the buffer belongs to the operation until that ends, if ever.
//
// # Errors
//
// What makes no sense is refused before anything is done, with an *ioerr.ArgumentError that
// names the argument and its value: an empty name (for which package os has
// fs.ErrNotExist), a nil file, a negative offset or length, a lock mode that is none. A
// transfer of nothing, a nil buffer among them, is what the system call makes of it; so is an
// offset or length that is too large.
//
// Errors are *ioerr.Error. Those of the system have an *fs.PathError inside (of Rename and
// CopyRange, which have two names, an *os.LinkError), with the operation, the name as it was opened,
// and the error number, so that errors.Is(err, fs.ErrNotExist) works. So have those of an operation
// whose context has ended, with the cause in the place of the number. The end of a file is io.EOF by
// itself.
//
// A file whose Sync or Datasync has failed refuses whatever comes after it
// (ioerr.ErrPoisoned) but Close: the kernel tells of lost data once, and then takes the
// pages for clean. A second fsync would succeed without the data being on the disk. What
// was written since the last one that succeeded must be written anew, to a file that is
// opened anew.
//
// # Buffers
//
// [Buffers] are a fixed number of aligned buffers outside of Go's heap, for direct I/O
// ([Direct]) and for programs that transfer much.
//
// # Streams
//
// [Reader] and [Writer] are for a file from front to back, as package io has it: with some
// transfers in flight while one buffer is being used, on any lane. What the page cache
// answers at once is transferred by the caller, as that is faster. A stream holds no
// slot, no goroutine and no share of its file but for transfers in flight, and waits
// for nothing but them and the buffers with which it begins. Close returns when none is in
// flight; on a lane.Abandoning one that was left keeps its buffer until it ends. The two
// can be tied to one another by io.Copy, also with the same Buffers.
//
// # Many reads
//
// [Pool.ReadMany] is for pieces that are known beforehand: the blocks of an index, the
// columns of a table. It makes few long reads of many short ones near to one another,
// keeps as many in flight as the lane does at a time, and yields the results in order, each
// as a part of a buffer. Merging is for devices: where all is in the page cache a loop over
// [File.ReadAt] is faster.
package file
