package pool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// untilItRuns makes a call again whose time was over before it began, as it may be on a
// machine that is busy.
func untilItRuns(t testing.TB, call func() error) error {
	t.Helper()
	for {
		err := call()
		if e := typed(t, err); e == nil || e.Effect != ioerr.None || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

// lateKinds are system calls that take something when they return at last.
var lateKinds = map[string]func(t *testing.T) (take func() (fd, error), letGo func()){
	"open": func(t *testing.T) (func() (fd, error), func()) {
		name := fifo(t)
		return func() (fd, error) {
			return again(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
		}, func() { connect(t, name) }
	},
	"flock": func(t *testing.T) (func() (fd, error), func()) {
		open := openFD(filepath.Join(t.TempDir(), "lock"))
		held, err := open(bg)
		require.NoError(t, err)
		require.NoError(t, syscall.Flock(int(held), syscall.LOCK_EX))
		return func() (fd, error) {
			n, err := open(bg)
			if err == nil {
				_, err = again(func() (int, error) { return 0, syscall.Flock(int(n), syscall.LOCK_EX) })
			}
			return n, err
		}, func() { require.NoError(t, closeFD(held)) }
	},
	"accept": func(t *testing.T) (func() (fd, error), func()) {
		listener, address := listen(t)
		return func() (fd, error) { return accept(listener) },
			func() {
				n, err := dial(address)
				require.NoError(t, err)
				require.NoError(t, closeFD(n))
			}
	},
	"connect": func(t *testing.T) (func() (fd, error), func()) {
		listener, address := listen(t)
		first, err := dial(address) // there is room for no other
		require.NoError(t, err)
		return func() (fd, error) { return dial(address) },
			func() {
				for range 2 {
					n, err := accept(listener)
					require.NoError(t, err)
					require.NoError(t, closeFD(n))
				}
				require.NoError(t, closeFD(first))
			}
	},
}

func listen(t testing.TB) (listener int, address syscall.Sockaddr) {
	t.Helper()
	n, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Close(n)) })
	address = &syscall.SockaddrUnix{Name: "@" + t.TempDir()}
	require.NoError(t, syscall.Bind(n, address))
	require.NoError(t, syscall.Listen(n, 0))
	return n, address
}

func accept(listener int) (fd, error) {
	return again(func() (int, error) {
		n, _, err := syscall.Accept4(listener, syscall.SOCK_CLOEXEC)
		return n, err
	})
}

func dial(address syscall.Sockaddr) (fd, error) {
	n, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if _, err := again(func() (int, error) { return 0, syscall.Connect(n, address) }); err != nil {
		return 0, errors.Join(err, syscall.Close(n))
	}
	return fd(n), nil
}

// What a call opens, locks, accepts or connects after its caller has gone belongs to nobody.
func TestWhatIsTakenTooLateIsGivenBackOnce(t *testing.T) {
	for name, kind := range lateKinds {
		for _, shutdown := range []bool{false, true} {
			for _, registers := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/shutdown=%v/register=%v", name, shutdown, registers), func(t *testing.T) {
					var undone atomic.Int64
					undo := func(n fd) error { undone.Add(1); return closeFD(n) }
					p, l := abandons(t, pool.Config[fd]{Dispose: undo}, lane.AbandoningConfig{})
					before := descriptors(t)
					t.Cleanup(func() { noneLeft(t, before) }) // after the listeners have gone
					take, letGo := kind(t)
					began := newGate()
					call := func(context.Context) (fd, error) { began.reached <- struct{}{}; return take() }
					isLeft(t, untilItRuns(t, func() error {
						if registers {
							return second(p.Register(within(t, 10*time.Millisecond), call, pool.Label(name)))
						}
						return second(pool.Offload(within(t, 10*time.Millisecond), p, call, pool.Label(name), pool.Undo(undo)))
					}), name)
					began.await(t, 1)
					if s := l.Stats(); len(s.Left) != 1 || undone.Load() != 0 {
						t.Errorf("undone %d times; %+v", undone.Load(), s)
					}
					if shutdown {
						report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, 10*time.Millisecond)))
						if !ok || len(report.Running) != 1 || report.Running[0].Label != name {
							t.Errorf("%+v", report)
						}
					}
					letGo()
					closes(t, p)
					if n := undone.Load(); n != 1 {
						t.Errorf("undone %d times", n)
					}
				})
			}
		}
	}
}

// native is a resource that notices when it is closed or freed under somebody.
type native struct {
	file     fd
	memory   []byte // unmapped by its disposal: to touch it then ends the process
	disposed *atomic.Int64
}

func openNative(file string, disposed *atomic.Int64) func(context.Context) (*native, error) {
	return func(ctx context.Context) (*native, error) {
		n, err := openFD(file)(ctx)
		if err != nil {
			return nil, err
		}
		memory, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		for i := range memory {
			memory[i] = 42
		}
		return &native{n, memory, disposed}, err
	}
}

func (r *native) close() error {
	r.disposed.Add(1)
	return errors.Join(syscall.Munmap(r.memory), closeFD(r.file))
}

// write writes to the file if the resource is as it was made.
func (r *native) write(p []byte) error {
	if slices.ContainsFunc(r.memory, func(b byte) bool { return b != 42 }) {
		return errors.New("the canary is dead")
	}
	_, err := syscall.Write(int(r.file), p)
	return err
}

// At its caller's deadline a call loses what it works with: the file is closed, so the data
// goes where the number leads now, the memory is freed, the buffer used for something else.
func TestNothingIsClosedFreedOrRecycledUnderALeftCall(t *testing.T) {
	dir := t.TempDir()
	var disposed, others atomic.Int64
	p, l := abandons(t, pool.Config[*native]{Dispose: (*native).close}, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
	file := filepath.Join(dir, "mine")
	id, err := p.Register(bg, openNative(file, &disposed))
	require.NoError(t, err)
	b := newBarrier(t)
	buffer := bytes.Repeat([]byte("m"), 64<<10)
	result := make(chan error, 1)
	isLeft(t, untilItRuns(t, func() error {
		ctx := context.WithValue(within(t, 10*time.Millisecond), keyType{}, "mine")
		own := slices.Clone(buffer)
		return second(pool.OffloadOn(ctx, p, id, func(ctx context.Context, r *native) (int, error) {
			b.stay()
			err := r.write(own)
			if ctx.Value(keyType{}) != "mine" || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = errors.Join(err, fmt.Errorf("the context is another's: %v", ctx.Err()))
			}
			result <- err
			return len(own), err
		}, pool.Label("mine"), pool.Undo(func(n int) error {
			if n != len(own) || disposed.Load() != 0 {
				t.Errorf("undo of %d bytes, with the resource disposed of %d times", n, disposed.Load())
			}
			return nil
		})))
	}), "mine")
	for i := range buffer { // the caller goes on with what is its own
		buffer[i] = 'o'
	}
	succeeds(t, p.Detach(id))
	seen := map[handle.ID]bool{id: true}
	for i := range rounds(500, 20_000) {
		other, err := p.Register(bg, openNative(filepath.Join(dir, fmt.Sprint(i%8)), &others))
		require.NoError(t, err)
		if seen[other] {
			t.Fatalf("%v is used again", other)
		}
		seen[other] = true
		succeeds(t, second(pool.OffloadOn(context.WithValue(bg, keyType{}, "other"), p, other, func(_ context.Context, r *native) (int, error) { return 0, r.write(buffer[:1]) })))
		succeeds(t, p.Destroy(bg, other))
		is(t, p.With(bg, id, leave), ioerr.ErrHandleNotFound)
		if i%100 == 0 {
			runtime.GC()
		}
	}
	is(t, p.Shutdown(within(t, 10*time.Millisecond)), context.DeadlineExceeded)
	if s := l.Stats(); len(s.Left) != 1 || s.Left[0].Label != "mine" || disposed.Load() != 0 {
		t.Errorf("disposed of %d times; %+v", disposed.Load(), s)
	}
	b.open()
	closes(t, p)
	if err := <-result; err != nil || disposed.Load() != 1 {
		t.Errorf("%v; disposed of %d times", err, disposed.Load())
	}
	for entry, want := range map[string]byte{"mine": 'm', "0": 'o', "1": 'o', "7": 'o'} {
		got, err := os.ReadFile(filepath.Join(dir, entry))
		if err != nil || len(got) == 0 || len(bytes.Trim(got, string(want))) != 0 {
			t.Errorf("%s: %d bytes, not all of them %c: %v", entry, len(got), want, err)
		}
	}
}

// A write that fails is told to nobody, or to somebody else; or it is done only after its
// caller was told so.
func TestAWriteThatMayBeLeftIsToldToItsCaller(t *testing.T) {
	p, _ := abandons(t, pool.Config[fd]{Dispose: closeFD}, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
	file := filepath.Join(t.TempDir(), "x")
	full, err := p.Register(bg, openFD("/dev/full"))
	require.NoError(t, err)
	good, err := p.Register(bg, openFD(file))
	require.NoError(t, err)
	write := func(id handle.ID) error {
		return second(pool.OffloadOn(within(t, time.Minute), p, id, func(_ context.Context, n fd) (int, error) { return syscall.Write(int(n), []byte("x")) }))
	}
	for i := range 100 {
		w := leaf(syscall.ENOSPC)
		w.id, w.lane = full, laneName
		w.check(t, write(full))
		succeeds(t, write(good))
		if got, err := os.ReadFile(file); err != nil || len(got) != i+1 {
			t.Fatalf("%d bytes after %d writes, %v", len(got), i+1, err)
		}
	}
	closes(t, p)
}
