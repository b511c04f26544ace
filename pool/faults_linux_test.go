package pool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// fd is a resource as close to the kernel as it gets: a number that names
// something else as soon as it is closed.
type fd int

func openFD(name string) func(context.Context) (fd, error) {
	return func(context.Context) (fd, error) {
		n, err := syscall.Open(name, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CREAT|syscall.O_CLOEXEC, 0o600)
		return fd(n), err
	}
}

func closeFD(n fd) error { return syscall.Close(int(n)) }

// A write that is about to begin lands in another file, whose number is the same.
func TestNoWriteLandsInAnotherFile(t *testing.T) {
	const files = 16
	dir := t.TempDir()
	name := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	for _, pl := range places[:4] {
		t.Run(pl.name, func(t *testing.T) {
			p := on(pl.settle(t, lane.Config{Workers: 4}), pool.Config[fd]{Dispose: closeFD})
			type current struct {
				id  handle.ID
				tag byte
			}
			var now atomic.Pointer[current]
			open := func(i int) {
				id, err := p.Register(bg, openFD(name(i%files)))
				require.NoError(t, err)
				if old := now.Swap(&current{id, byte('A' + i%files)}); old != nil {
					succeeds(t, p.Destroy(bg, old.id))
				}
			}
			open(0)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			var written, late atomic.Int64
			for range 3 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						c := now.Load()
						runtime.Gosched()
						err := p.With(bg, c.id, func(_ context.Context, n fd) error {
							_, err := syscall.Write(int(n), []byte{c.tag})
							return err
						})
						switch {
						case err == nil:
							written.Add(1)
						case errors.Is(err, ioerr.ErrHandleNotFound):
							late.Add(1)
						default:
							t.Error(err)
						}
					}
				})
			}
			for i := range rounds(800, 100_000) {
				open(i)
			}
			close(stop)
			wg.Wait()
			closes(t, p)
			t.Logf("%d writes, %d came too late", written.Load(), late.Load())
		})
	}
	for i := range files {
		content, err := os.ReadFile(name(i))
		require.NoError(t, err)
		if rest := bytes.Trim(content, string(rune('A'+i))); len(rest) != 0 {
			t.Errorf("file %c holds %q", 'A'+i, rest[:min(len(rest), 20)])
		}
	}
}

// A file is closed twice, and the second close hits one that was opened since.
func TestNothingIsClosedTwice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	p := makePool(t, pool.Config[fd]{Dispose: closeFD})
	stop := make(chan struct{})
	var bystanders sync.WaitGroup
	for range 2 { // others open and close files, and would notice
		bystanders.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n, err := openFD(name)(bg)
				if err == nil {
					err = closeFD(n)
				}
				if err != nil {
					t.Error("a bystander:", err)
				}
			}
		})
	}
	for range rounds(2000, 10_000) {
		id, err := p.Register(bg, openFD(name))
		require.NoError(t, err)
		rivals := []<-chan error{
			start(func() error { return p.Destroy(bg, id) }),
			start(func() error { return p.Destroy(bg, id) }),
			start(func() error { return p.With(bg, id, leave) }),
		}
		succeeds(t, <-rivals[0])
		succeeds(t, <-rivals[1])
		if err := <-rivals[2]; err != nil {
			is(t, err, ioerr.ErrHandleNotFound)
		}
	}
	close(stop)
	bystanders.Wait()
	closes(t, p) // without an error: no close said EBADF
}

// A native object is freed while calls are inside it: the pages would be gone.
func TestNoCallFindsItsMemoryFreed(t *testing.T) {
	type object = []byte
	p := makePool(t, pool.Config[object]{Threads: lane.Config{Workers: 8}, Dispose: syscall.Munmap})
	for range rounds(300, 10_000) {
		id, err := p.Register(bg, func(context.Context) (object, error) {
			return syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for k := range 16 {
			wg.Go(func() {
				err := p.With(bg, id, func(_ context.Context, o object) error {
					for i := range o {
						o[i] = byte(k)
					}
					runtime.Gosched()
					for i := range o {
						if o[i] != byte(k) {
							return errors.New("the canary is dead")
						}
					}
					return nil
				})
				if err != nil {
					is(t, err, ioerr.ErrHandleNotFound)
				}
			})
		}
		runtime.Gosched()
		succeeds(t, p.Destroy(bg, id))
		wg.Wait()
	}
	closes(t, p)
}

// A resource is closed, or collected, under a call that is still running, when
// everybody has turned away from it.
func TestNothingIsClosedUnderARunningCall(t *testing.T) {
	p := makePool(t, pool.Config[*os.File]{Threads: lane.Config{Workers: 2}, Dispose: (*os.File).Close})
	b := newBarrier(t)
	var n int
	id, err := p.Register(bg, func(context.Context) (*os.File, error) {
		f, err := os.Create(filepath.Join(t.TempDir(), "x"))
		if err == nil {
			n = int(f.Fd())
		}
		return f, err
	})
	require.NoError(t, err)
	call := start(func() error {
		return p.With(bg, id, func(_ context.Context, f *os.File) error {
			b.stay()
			_, err := f.WriteString("late, but in time")
			return err
		})
	})
	<-b.reached
	ctx, cancel := context.WithTimeout(bg, time.Millisecond)
	defer cancel()
	is(t, p.Destroy(ctx, id), context.DeadlineExceeded)
	is(t, p.Shutdown(ctx), context.DeadlineExceeded)
	is(t, p.With(bg, id, leave), ioerr.ErrShutdown)
	runtime.GC()
	runtime.GC()
	isOpen := func() bool {
		var st syscall.Stat_t
		return syscall.Fstat(n, &st) == nil
	}
	if !isOpen() {
		t.Error("closed while in use")
	}
	b.open()
	succeeds(t, <-call)
	closes(t, p)
}

// A write that fails is forgotten, and somebody else learns of it or nobody.
func TestFailedWriteIsItsOwnCallersError(t *testing.T) {
	p := makePool(t, pool.Config[fd]{Dispose: closeFD})
	file := filepath.Join(t.TempDir(), "x")
	full, err := p.Register(bg, openFD("/dev/full"))
	require.NoError(t, err)
	good, err := p.Register(bg, openFD(file))
	require.NoError(t, err)
	write := func(id handle.ID, s string) error {
		return p.With(bg, id, func(_ context.Context, n fd) error {
			_, err := syscall.Write(int(n), []byte(s))
			return err
		})
	}
	text := ""
	for range 100 {
		is(t, write(full, "x"), syscall.ENOSPC)
		succeeds(t, write(good, "y"))
		text += "y"
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Fatalf("%q, %v", got, err)
		}
	}
	closes(t, p)
}
