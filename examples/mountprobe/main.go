// Command mountprobe asks file systems how they are, again and again, and is not held up
// by one that does not answer: the case that iolane's Abandoning lane is made for.
//
//	mountprobe [-every 10s] [-deadline 1s] [-once] [PATH...]
//
// Without a PATH it probes what is mounted (on Linux). It prints a line for each path
// and round: its state, how long the answer took or has been waited for, and the path.
// A statfs on a dead mount never returns; it costs one thread, once, and the path is
// reported as hung until it does return. With -once there is one round, and the exit
// status is 1 if any path is not ok.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, statfs)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mountprobe:", err)
		os.Exit(1)
	}
}

// errNotOK is the result of a single round in which something was wrong.
var errNotOK = errors.New("not everything is ok")

func run(ctx context.Context, args []string, stdout io.Writer, ask func(path string) error) error {
	flags := flag.NewFlagSet("mountprobe", flag.ContinueOnError)
	every := flags.Duration("every", 10*time.Second, "time from one round to the next")
	deadline := flags.Duration("deadline", time.Second, "how long a file system may take to answer")
	once := flags.Bool("once", false, "one round only")
	if err := flags.Parse(args); err != nil {
		return err
	}
	paths := flags.Args()
	if len(paths) == 0 {
		var err error
		if paths, err = mounts(); err != nil {
			return err
		}
	}
	p, err := newProber(*deadline, len(paths), ask)
	if err != nil {
		return err
	}
	for {
		ok := true
		for _, r := range p.round(ctx, paths) {
			ok = ok && r.state == stateOK
			if _, err := fmt.Fprintln(stdout, r); err != nil {
				return err
			}
		}
		if *once {
			if !ok {
				return errNotOK
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // what hangs goes on hanging; nothing waits for it
		case <-time.After(*every):
		}
	}
}
