//go:build linux || darwin || freebsd

// Command lockwait runs a command while it holds a lock on a file, as flock(1) does, and
// gives up when it does not get the lock in time.
//
//	lockwait [-for 10s] FILE COMMAND [ARGUMENT...]
//
// To wait for a lock is a system call that may never return. The wait is made on an
// Abandoning lane: at the deadline it is interrupted where that can be done, and else
// left; a lock that then comes too late is given back at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func main() {
	err := run(context.Background(), os.Args[1:])
	switch exit, _ := errors.AsType[*exec.ExitError](err); {
	case exit != nil:
		os.Exit(exit.ExitCode())
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "lockwait:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("lockwait", flag.ContinueOnError)
	wait := flags.Duration("for", 10*time.Second, "how long to wait for the lock")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() < 2 {
		return errors.New("usage: lockwait [-for 10s] FILE COMMAND [ARGUMENT...]")
	}
	locks, err := newLocks()
	if err != nil {
		return err
	}
	// The pool is not shut down: that would wait for a wait that was left.
	file, err := locks.lock(ctx, flags.Arg(0), *wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }() // gives the lock back
	command := exec.CommandContext(ctx, flags.Arg(1), flags.Args()[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	return command.Run()
}

// locks waits for locks.
type locks struct{ *pool.Pool[struct{}] }

func newLocks() (locks, error) {
	c := lane.AbandoningConfig{Config: lane.Config{Name: "locks"}, CallLimit: lane.NoLimit, Interrupt: true}
	l, err := lane.NewAbandoning(c)
	if errors.Is(err, ioerr.ErrUnsupported) { // then the wait is left instead
		c.Interrupt = false
		l, err = lane.NewAbandoning(c)
	}
	if err != nil {
		return locks{}, err
	}
	p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	return locks{p}, err
}

// lock returns the file at path, locked for whoever closes it.
func (l locks) lock(ctx context.Context, path string, wait time.Duration) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	file, err := pool.Offload(ctx, l.Pool, func(ctx context.Context) (*os.File, error) {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		for {
			err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
			if !errors.Is(err, syscall.EINTR) || ctx.Err() != nil {
				break
			}
		}
		if err != nil {
			return nil, errors.Join(os.NewSyscallError("flock", err), context.Cause(ctx), file.Close())
		}
		return file, nil
	}, pool.Label("flock "+path), pool.Undo((*os.File).Close))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s is still locked after %v: %w", path, wait, err)
	}
	return file, err
}
