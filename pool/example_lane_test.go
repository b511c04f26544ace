package pool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// A shutdown that is given too little time says what it still waits for.
func ExamplePool_Shutdown() {
	ctx := context.Background()
	files := newFiles()
	hung, release := hang(files, pool.Label("stat /mnt/a"))

	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	err := files.Shutdown(short)
	if report, ok := errors.AsType[*pool.Report](err); ok {
		for _, call := range report.Running {
			fmt.Println("still running:", call.Label)
		}
	}
	fmt.Println(errors.Is(err, context.DeadlineExceeded))

	release()
	hung.Wait()
	fmt.Println(files.Shutdown(ctx)) // finishes the job
	// Output:
	// still running: stat /mnt/a
	// true
	// <nil>
}

func ExamplePool_Close() {
	files := newFiles()
	fmt.Println(files.Close())
	err := files.Do(context.Background(), func(context.Context) error { return nil })
	fmt.Println(errors.Is(err, ioerr.ErrShutdown), errors.Is(err, os.ErrClosed))
	// Output:
	// <nil>
	// true true
}

func ExamplePool_Stats() {
	files := newFiles()
	defer files.Close()
	hung, release := hang(files, pool.Label("stat /mnt/a"))

	s := files.Stats()
	fmt.Println(s.State, s.Handles, s.Lane.Running)
	for _, call := range s.Running {
		fmt.Println(call.Label, call.Age > 0)
	}

	release()
	hung.Wait()
	// Output:
	// open 0 1
	// stat /mnt/a true
}

func ExampleLabel() {
	files := newFiles()
	defer files.Close()

	err := files.Do(context.Background(), func(context.Context) error {
		return os.Remove("/no/such/file")
	}, pool.Label("remove the lock"))
	if e, ok := errors.AsType[*ioerr.Error](err); ok {
		fmt.Println(e.Label, errors.Is(e, os.ErrNotExist))
	}
	// Output: remove the lock true
}

func ExampleAcceptWithin() {
	files := oneAtATime()
	defer files.Close()
	hung, release := hang(files)

	// The context bounds everything. AcceptWithin bounds only the wait for a place,
	// so an overloaded lane is noticed early and a call that got in has its time.
	err := files.Do(context.Background(), func(context.Context) error { return nil },
		pool.AcceptWithin(10*time.Millisecond))
	fmt.Println(errors.Is(err, ioerr.ErrAcceptTimeout), errors.Is(err, context.DeadlineExceeded))

	release()
	hung.Wait()
	// Output: true true
}

func ExampleFailFast() {
	files := oneAtATime()
	defer files.Close()
	hung, release := hang(files)

	err := files.Do(context.Background(), func(context.Context) error { return nil }, pool.FailFast)
	if e, ok := errors.AsType[*ioerr.Error](err); ok && e.Effect == ioerr.None {
		fmt.Println("try again later:", errors.Is(err, ioerr.ErrQueueFull))
	}

	release()
	hung.Wait()
	// Output: try again later: true
}

func ExampleUrgent() {
	// One of the two slots is kept for urgent calls.
	files, err := pool.New(pool.Config[*os.File]{Threads: lane.Config{Workers: 2, Reserved: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()
	hung, release := hang(files)

	err = files.Do(context.Background(), func(context.Context) error {
		fmt.Println("the lock is refreshed")
		return nil
	}, pool.Urgent)
	fmt.Println(err)

	release()
	hung.Wait()
	// Output:
	// the lock is refreshed
	// <nil>
}

func ExampleKey() {
	// Eight calls at a time, but one for each disk.
	files, err := pool.New(pool.Config[*os.File]{Threads: lane.Config{Workers: 8, PerKey: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()
	hung, release := hang(files, pool.Key("sda"))

	scan := func(disk string) error {
		return files.Do(context.Background(), func(context.Context) error { return nil }, pool.Key(disk), pool.FailFast)
	}
	fmt.Println("sda busy:", errors.Is(scan("sda"), ioerr.ErrKeyBusy))
	fmt.Println("sdb:", scan("sdb"))

	release()
	hung.Wait()
	// Output:
	// sda busy: true
	// sdb: <nil>
}

// oneAtATime is a pool that runs one call and queues none.
func oneAtATime() *pool.Pool[*os.File] {
	files, err := pool.New(pool.Config[*os.File]{Threads: lane.Config{Workers: 1, Queue: lane.NoQueue, Waiters: 10}})
	if err != nil {
		panic(err)
	}
	return files
}

// hang makes a call that stays in the pool until release is called.
func hang(files *pool.Pool[*os.File], opts ...pool.Option) (hung *sync.WaitGroup, release func()) {
	running, gate := make(chan struct{}), make(chan struct{})
	hung = new(sync.WaitGroup)
	hung.Go(func() {
		err := files.Do(context.Background(), func(context.Context) error {
			close(running)
			<-gate
			return nil
		}, opts...)
		if err != nil {
			panic(err)
		}
	})
	<-running
	return hung, func() { close(gate) }
}

// A call may change the thread that it runs on. What it cannot put back makes the thread
// unfit for others, and it is replaced.
func ExampleOffload_pinned() {
	l, err := lane.NewPinned(lane.PinnedConfig{
		Config: lane.Config{Name: "tenants", Workers: 2},
		Start:  func(int) error { return nil }, // initialise a C library, enter a namespace
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tenants, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tenants.Close()
	ctx := context.Background()

	switchUser := func() error { return nil } // for this thread alone
	switchBack := func() error { return errors.New("not permitted") }
	err = tenants.Offload(ctx, func(ctx context.Context) error {
		if err := switchUser(); err != nil {
			return err
		}
		thread, _ := lane.ThreadOf(ctx) // there is one, since the lane is Pinned
		thread.Restore(switchBack)      // if it fails the thread is not used again
		return nil
	})
	if e, ok := errors.AsType[*ioerr.RestoreError](err); ok {
		fmt.Println(e)
	}
	err = tenants.Offload(ctx, func(ctx context.Context) error {
		thread, _ := lane.ThreadOf(ctx)
		thread.Taint() // there is no way back at all
		return nil
	})
	fmt.Println(err, tenants.Stats().Lane.Threads.Retired)
	err = tenants.Do(ctx, func(context.Context) error { return nil }) // on this goroutine
	fmt.Println(errors.Is(err, ioerr.ErrUnsupported))
	// Output:
	// restoring the thread: not permitted
	// <nil> 2
	// true
}

// A call that may never return: its caller leaves it when its time is up. What it would
// have returned is undone if it comes late.
func ExampleOffload() {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{
		Config: lane.Config{Name: "mounts", Workers: 4},
		Grace:  10 * time.Millisecond,
	})
	if err != nil {
		panic(err)
	}
	mounts, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	if err != nil {
		panic(err)
	}
	server := make(chan struct{}) // that does not answer

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = pool.Offload(ctx, mounts, func(context.Context) (string, error) {
		<-server
		return "mounted", nil
	}, pool.Label("mount /a"), pool.Undo(func(string) error { fmt.Println("unmounted"); return nil }))

	e, _ := errors.AsType[*ioerr.Error](err)
	fmt.Println(e.Outcome, e.Effect, errors.Is(err, ioerr.ErrLeft))
	fmt.Println("left:", mounts.Stats().Lane.Left[0].Label)

	close(server) // it answers after all
	fmt.Println(mounts.Close())
	// Output:
	// timed out unknown true
	// left: mount /a
	// unmounted
	// <nil>
}
