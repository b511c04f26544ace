package pool_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Faults that people have met with calls that never return, with true system calls;
// docs/faults.md names the reports.

// again makes a system call as long as it is interrupted (by the runtime, for its own ends).
func again(call func() (int, error)) (fd, error) {
	for {
		if n, err := call(); !errors.Is(err, syscall.EINTR) {
			return fd(n), err
		}
	}
}

// descriptors are those of this process, with what they name.
func descriptors(t testing.TB) map[string]string {
	t.Helper()
	const dir = "/proc/self/fd"
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	open := make(map[string]string)
	for _, d := range all {
		if name, err := os.Readlink(filepath.Join(dir, d.Name())); err == nil { // else it was of ReadDir itself
			open[d.Name()] = name
		}
	}
	return open
}

// noneLeft checks that there is no descriptor of anything that had none before.
func noneLeft(t testing.TB, before map[string]string) {
	t.Helper()
	known := make(map[string]bool)
	for _, name := range before {
		known[name] = true
	}
	for n, name := range descriptors(t) {
		if !known[name] && !strings.HasPrefix(name, "anon_inode:") { // those are the runtime's
			t.Errorf("descriptor %s is left open: %s", n, name)
		}
	}
}

// eventually waits until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("never: ", what)
		}
	}
}

func fifo(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	return name
}

// connect opens the other end of a FIFO, whose opening returns then.
func connect(t testing.TB, name string) {
	t.Helper()
	eventually(t, "somebody opens "+name, func() bool {
		n, err := syscall.Open(name, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		return err == nil && syscall.Close(n) == nil
	})
}

// A FIFO whose other end never comes: each try to open it takes a thread for good, and what
// is opened after all belongs to nobody.
func TestLateDescriptorsAreClosedAndOpensThatHangAreBounded(t *testing.T) {
	const workers, budget, patience = 2, 4, 30 * time.Millisecond
	before := descriptors(t)
	var opened, closed atomic.Int64
	p, l := abandons(t, pool.Config[fd]{Dispose: func(n fd) error { closed.Add(1); return closeFD(n) }}, lane.AbandoningConfig{
		Config: lane.Config{Workers: workers}, Left: budget,
	})
	var names []string
	for i := range workers + budget + 5 {
		name := fifo(t)
		var id handle.ID
		var took time.Duration
		err := untilItRuns(t, func() (err error) {
			began := time.Now()
			id, err = p.Register(within(t, patience), func(context.Context) (fd, error) {
				n, err := again(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
				opened.Add(1)
				return n, err
			}, pool.Label("open"))
			took = time.Since(began)
			return err
		})
		if took > 5*time.Second || !id.IsZero() {
			t.Errorf("%v after %v", id, took)
		}
		if i < workers+budget {
			isLeft(t, err, "open")
			names = append(names, name)
		} else {
			is(t, err, ioerr.ErrSaturated)
		}
	}
	if s := p.Stats(); len(s.Lane.Left) != workers+budget || s.Handles != workers+budget || opened.Load() != 0 {
		t.Errorf("%d opened; %+v", opened.Load(), s)
	}
	for i, name := range names {
		connect(t, name)
		eventually(t, "it is over", func() bool { return len(l.Stats().Left) == len(names)-1-i })
		id, err := p.Register(bg, openFD(filepath.Join(t.TempDir(), "healthy")))
		succeeds(t, err)
		succeeds(t, p.Destroy(bg, id))
	}
	eventually(t, "everything is closed", func() bool {
		s := p.Stats()
		return closed.Load() == int64(2*len(names)) && s.Handles == 0 && s.Retired == 0
	})
	noneLeft(t, before)
	if opened.Load() != int64(len(names)) {
		t.Errorf("%d opened", opened.Load())
	}
	closes(t, p) // without an error: no close said EBADF
}

// lockChild takes the lock that its file's name says, says so, and keeps it until its input
// ends.
func lockChild() {
	n, err := syscall.Open(os.Getenv(childVar+"_FILE"), syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err == nil {
		_, err = again(func() (int, error) { return 0, syscall.Flock(n, syscall.LOCK_EX) })
	}
	if err != nil {
		fatal(err)
	}
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// locker is another process that wants a lock.
type locker struct {
	*exec.Cmd
	in  io.Closer
	out *bufio.Scanner
}

func newLocker(t *testing.T, file string) locker {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVar+"=lock", childVar+"_FILE="+file, "GORACE=atexit_sleep_ms=0")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	return locker{child, in, bufio.NewScanner(out)}
}

// locked waits until it has the lock.
func (k locker) locked(t *testing.T) {
	t.Helper()
	if !k.out.Scan() || k.out.Text() != "locked" {
		t.Errorf("%q instead of the lock", k.out.Text())
	}
}

// free has it give the lock back, and waits for its end.
func (k locker) free(t *testing.T) {
	t.Helper()
	require.NoError(t, k.in.Close())
	require.NoError(t, k.Wait())
}

// waiting is how many wait for a lock of the file.
func waiting(t testing.TB, file string) (n int) {
	t.Helper()
	var st syscall.Stat_t
	require.NoError(t, syscall.Stat(file, &st))
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skip("who waits for a lock is not to be seen here: ", err)
	}
	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d ", st.Ino)) {
			n++
		}
	}
	return n
}

// To wait for a file's lock cannot be cancelled, closing the file does not help, and the
// lock is won after all by one who has gone: then nobody gets it any more.
func TestALockThatIsWonTooLateGoesToTheNextProcess(t *testing.T) {
	for _, interrupts := range []bool{false, true} {
		t.Run(fmt.Sprint("interrupt: ", interrupts), func(t *testing.T) {
			rules := lane.AbandoningConfig{Interrupt: interrupts, Grace: time.Millisecond}
			if interrupts {
				rules.Grace = time.Minute
				if l, err := lane.NewAbandoning(rules); errors.Is(err, ioerr.ErrUnsupported) {
					t.Skip(err)
				} else if err == nil {
					require.NoError(t, l.Shutdown(bg))
				}
			}
			file := filepath.Join(t.TempDir(), "lock")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			before := descriptors(t)
			p, l := abandons(t, pool.Config[int]{}, rules)
			first := newLocker(t, file)
			first.locked(t)
			var undone atomic.Int64
			take := func(ctx context.Context) (fd, error) {
				n, err := syscall.Open(file, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
				if err != nil {
					return 0, err
				}
				for err = syscall.EINTR; errors.Is(err, syscall.EINTR) && (!interrupts || ctx.Err() == nil); {
					err = syscall.Flock(n, syscall.LOCK_EX)
				}
				if err != nil {
					return 0, errors.Join(err, closeFD(fd(n)))
				}
				return fd(n), nil
			}
			var began time.Time
			err := untilItRuns(t, func() error {
				began = time.Now()
				return second(pool.Offload(within(t, 50*time.Millisecond), p, take, pool.Label("flock"), pool.Undo(func(n fd) error { undone.Add(1); return closeFD(n) })))
			})
			if took := time.Since(began); took < 50*time.Millisecond || took > 10*time.Second {
				t.Errorf("the caller was free after %v", took)
			}
			want := int64(1)
			if interrupts { // it has ended, with what the system said
				is(t, err, syscall.EINTR)
				want = 0
			} else {
				isLeft(t, err, "flock")
				eventually(t, "the call waits for the lock", func() bool { return waiting(t, file) == 1 })
			}
			next := newLocker(t, file)
			eventually(t, "the next process waits for the lock", func() bool { return waiting(t, file) == int(want)+1 })
			began = time.Now()
			first.free(t)
			next.locked(t)
			t.Logf("the next process has the lock %v after it was given back", time.Since(began))
			next.free(t)
			closes(t, p)
			if s := l.Stats(); undone.Load() != want || s.LeftTotal != uint64(want) {
				t.Errorf("undone %d times, want %d; %+v", undone.Load(), want, s)
			}
			noneLeft(t, before)
		})
	}
}
