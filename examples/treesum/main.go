// Command treesum prints the SHA-256 of every regular file below the directories
// it is given, as find DIR -type f and sha256sum would, and verifies such lists.
//
//	treesum [flags] DIR...
//	treesum [flags] -check FILE
//
// It is the example of iolane at work: everything that may block on a disk is a
// call on one pool, so that never more than -workers of them run at a time.
//
// # Output
//
// A line for each file, HASH and two spaces and PATH, byte for byte as GNU
// sha256sum writes it: a path that contains a backslash, a newline or a carriage
// return has them as \\, \n and \r, and its line begins with a backslash. PATH is
// what find prints: the argument as it was given, then the names below it, joined
// by slashes. Symbolic links are not followed, not as an argument either (but
// LINK/ names the directory behind it), and what is neither a file nor a
// directory is passed over.
//
// The order is that of the arguments and, below each, of LC_ALL=C sort. Two runs
// over the same tree print the same, whatever the lane, the number of workers and
// the file system. Lines come out while the walk goes on, and memory does not
// grow with the number of files. What is held at any time is
//
//   - names of directory entries: 8 MiB, and 64 KiB more for each level of the
//     directory tree that is open. A directory with more entries than fit is read
//     several times, each time for the next part in order;
//   - the paths and results of the files under way: -workers and -queue of them;
//   - a buffer of 128 KiB for each worker.
//
// # Checking
//
// With -check the lines of FILE, or of the standard input if FILE is -, are
// compared with the files they name. The report on the standard output and the
// warnings are those of sha256sum -c, and so are the lines that are understood:
// text and binary marks, the forms of BSD, escaped paths, comments, and CRLF at
// the end of lines. Unlike there, only regular files can be verified, so that no
// list can make treesum wait for a FIFO, and a path - is a file of that name.
//
// # Errors
//
// A file or directory that cannot be read costs one line on the standard error,
// and so does a path that is longer than the system takes (PATH_MAX); all others
// are processed nevertheless. An interrupt (Ctrl-C, SIGTERM) lets
// running calls end, starts no others, and says how far it came; a second one
// ends the program at once. The exit status is
//
//	0    all went well
//	1    something could not be read or did not match
//	2    the command line was wrong
//	130  interrupted
//	141  nobody reads the standard output any more
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

	"github.com/iolane/iolane/pool"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
	exitPipe        = 141
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal kills
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command without the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseFlags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(stdout, usage())
		return exitOK
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "treesum: %v\n%s", err, synopsis)
		return exitUsage
	}
	l, calls, window, err := o.newLane()
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "treesum: %v\n", err)
		return exitUsage
	}
	// Every file is used once, in one call, so the pool holds no resources.
	files, err := pool.New(pool.Config[noResource]{Lane: l, OwnsLane: true})
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "treesum: %v\n", err)
		return exitUsage
	}

	t := newTally()
	j := &job{newHasher(files, t, calls), newReport(stdout, stderr, o.showProgress(stderr), t), window}
	if o.check != "" {
		j.check(ctx, o, stdin)
	} else {
		j.sum(ctx, o.roots)
	}
	if err := files.Close(); err != nil {
		j.fail("%v", err)
	}
	status := j.end(ctx)
	if o.stats {
		t.print(stderr, l.Stats())
	}
	return status
}
