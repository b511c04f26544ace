// Command fcopy copies files, as cp does, and shows how package file is used.
//
//	fcopy [flags] SRC DST
//
// If DST is a directory the copy goes into it. With -r SRC may be a directory, too;
// symbolic links in it are copied as links, and what is neither a file, a directory nor a
// link is refused.
//
// # How it is made
//
// A fixed set of aligned buffers (file.Buffers), -depth of them, is all the memory that
// data goes through. As many fibers (Pool.Fiber) take blocks of the file in order, and
// each does one thing after the other: read at an offset, write at the same offset. That
// is the same code on every lane, and function newLane is the only place that knows which
// it is: on a ring the fibers are coroutines and their transfers need no threads; on the
// other lanes they are goroutines that block.
//
// What package file has no operation for (reading directories, finding holes, mode and
// times) is a call on the same lane, by pool.Offload.
//
// # What becomes of DST
//
// The copy is written to a temporary file, .fcopy-NUMBER in the directory of DST. It gets
// its room on the disk first, so that a full disk is found at once; then it is filled,
// made durable (fsync), and verified if asked for; and then it takes the name DST, which
// is made durable, too. So DST is the old file or the whole new one, also after a crash.
// Whatever goes wrong, and on an interrupt (Ctrl-C, SIGTERM), the temporary file is
// removed. A second interrupt ends the program at once and leaves it.
//
// A symbolic link at DST is replaced, not followed. A DST that is there and not a regular
// file (a device, a FIFO) is refused, and so is one that is SRC itself under whatever
// name. A SRC whose size or time of modification is another one after the copy is
// refused: the copy would be none of a file that ever was.
//
// DST keeps the mode it has, and otherwise gets that of SRC, less umask. With -p it gets
// the mode (without set-user-ID and the like) and the time of modification of SRC.
//
// # Holes
//
// Holes stay holes where the system tells where they are (SEEK_DATA). With -sparse always
// blocks of zeros become holes as well; with -sparse never none is left.
//
// # Errors
//
// Each thing that cannot be copied costs one line on the standard error, and all others
// are copied nevertheless. Where a file system refuses direct I/O (-direct, and -verify,
// which prefers it) a note says so, and the file goes through the page cache. The exit
// status is
//
//	0    all was copied
//	1    something was not
//	2    the command line was wrong
//	3    something was not, and -verify found a difference
//	130  interrupted
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/iolane/iolane/file"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDiffers     = 3
	exitInterrupted = 130
)

// patience is how long cleaning up may take, after an interrupt or beside a call that hangs.
const patience = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseFlags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(stdout, usage())
		return exitOK
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "fcopy: %v\n%s", err, synopsis)
		return exitUsage
	}
	r := newReport(stderr, o.showProgress(stderr))
	if err := o.copy(ctx, r); err != nil {
		r.fail(err)
	}
	r.end()
	switch {
	case ctx.Err() != nil:
		r.say("interrupted")
		return exitInterrupted
	case r.differs:
		return exitDiffers
	case r.failed:
		return exitFailed
	}
	return exitOK
}

// copy makes what is needed, copies, and takes it down again. What becomes of each file is
// reported as it happens; the error is for what concerns all of them.
func (o *options) copy(ctx context.Context, r *report) (err error) {
	buffers, err := file.NewBuffers(file.BuffersConfig{Count: o.depth, Size: int(o.block)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, buffers.Close()) }()
	files, err := newPool(o.lane, o.depth, buffers)
	if err != nil {
		return err
	}
	defer func() {
		if o.stats {
			r.stats(files.Pool().Stats().Lane)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err = errors.Join(err, files.Shutdown(ctx))
	}()
	c := &copier{options: o, files: files, buffers: buffers, report: r}
	return c.tree(ctx, o.src, o.dst)
}
