package pool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// A drive that fails three times in a row, or takes longer than it should, is left alone
// until it answers again.
func ExampleHealthRules() {
	ctx := context.Background()
	drives, err := pool.New(pool.Config[string]{
		Check: func(dir string) error { _, err := os.Stat(dir); return err },
		Health: pool.HealthRules{
			Slow:  2 * time.Second,
			Bad:   func(err error) bool { return errors.Is(err, syscall.EIO) },
			Stuck: 10 * time.Second,
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer drives.Close()

	id, err := drives.Adopt("/drives/1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 4 {
		err := drives.With(ctx, id, func(_ context.Context, dir string) error {
			return &os.PathError{Op: "read", Path: dir + "/file", Err: syscall.EIO}
		})
		if _, ok := errors.AsType[*ioerr.UnfitError](err); ok { // this one never ran
			fmt.Println("use another drive:", errors.Is(err, ioerr.ErrHandleDown), errors.Is(err, syscall.EIO))
			continue
		}
		fmt.Println("failed, and", drives.Health(id))
	}
	// Output:
	// failed, and suspect
	// failed, and suspect
	// failed, and down
	// use another drive: true true
}

// A file whose fsync failed must not be written on as if nothing had happened: the kernel
// may have dropped the data, and the next fsync would succeed.
func ExamplePoison() {
	files := newFiles()
	defer files.Close()
	ctx := context.Background()
	id, err := files.Adopt(open(tempFile("")))
	if err != nil {
		fmt.Println(err)
		return
	}
	fsync := func(*os.File) error { return syscall.EIO } // stands for one that fails

	err = files.With(ctx, id, func(_ context.Context, f *os.File) error { return pool.Poison(fsync(f)) })
	fmt.Println(errors.Is(err, syscall.EIO))
	err = files.With(ctx, id, func(context.Context, *os.File) error { return nil })
	fmt.Println(errors.Is(err, ioerr.ErrPoisoned), errors.Is(err, syscall.EIO))

	if err := files.Replace(ctx, id, func(context.Context, *os.File) (*os.File, error) { return open(tempFile("")), nil }); err != nil {
		fmt.Println(err)
	}
	fmt.Println(files.Health(id))
	// Output:
	// true
	// true true
	// healthy
}

// A read that blocks ends when its context does: the deadline of the pipe is moved into
// the past. That would last, so each read begins with putting it right.
func ExampleConfig_interrupt() {
	pipes, err := pool.New(pool.Config[*os.File]{
		Dispose:   (*os.File).Close,
		Interrupt: func(f *os.File) { _ = f.SetDeadline(time.Unix(1, 0)) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pipes.Close()
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	id, err := pipes.Adopt(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	read := func(ctx context.Context, f *os.File) (string, error) {
		if err := f.SetDeadline(time.Time{}); err != nil {
			return "", err
		}
		if ctx.Err() != nil { // Interrupt may have been called before that
			return "", context.Cause(ctx)
		}
		buf := make([]byte, 16)
		n, err := f.Read(buf)
		return string(buf[:n]), err
	}

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = pool.Transact(ctx, pipes, id, read)
	fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))
	if _, err := w.WriteString("hello"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(pool.Transact(context.Background(), pipes, id, read))
	// Output:
	// true
	// hello <nil>
}

// What takes too long is reported while it does, also when it holds every slot.
func ExampleWatch() {
	done := make(chan struct{})
	p, err := pool.New(pool.Config[string]{
		Threads: lane.Config{Workers: 1},
		Watch:   pool.Watch{Slow: 50 * time.Millisecond},
		OnEvent: func(e pool.Event) {
			fmt.Println(e.Kind, e.Call.Label)
			if e.Kind == pool.CallSlow {
				close(done)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = p.Do(context.Background(), func(context.Context) error { <-done; return nil }, pool.Label("read /mnt/a"))
	if err := errors.Join(err, p.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// call slow read /mnt/a
	// call ended read /mnt/a
}
