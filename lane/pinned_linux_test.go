package lane_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func threadExists(id int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", id))
	return err == nil
}

// inTime waits for what the kernel does in its own time.
func inTime(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// Law: each call runs on a thread of the lane's, the same one for the same number, and
// never on the main thread.
func TestEachCallRunsOnAThreadOfTheLane(t *testing.T) {
	var mu sync.Mutex
	ids := make(map[int]int)
	l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 3}, Start: func(i int) error {
		mu.Lock()
		defer mu.Unlock()
		ids[i] = syscall.Gettid()
		return nil
	}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_ = on(t, l, func(th lane.Thread) {
					if id := syscall.Gettid(); id != ids[th.Index()] || id != th.ID() || id == syscall.Getpid() {
						t.Errorf("number %d runs on %d, started on %d, says %d", th.Index(), id, ids[th.Index()], th.ID())
					}
				})
			}
		})
	}
	wg.Wait()
	shut(t, l)
	for _, id := range ids {
		inTime(t, "the threads end with the lane", func() bool { return !threadExists(id) })
	}
}

// Law: a tainted thread ends, and no call ever runs on it again.
func TestATaintedThreadIsGone(t *testing.T) {
	l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 2}})
	gone := make(map[int]bool)
	for range 30 {
		require.NoError(t, on(t, l, func(th lane.Thread) {
			if gone[th.ID()] {
				t.Errorf("thread %d again", th.ID())
			}
			gone[th.ID()] = true
			th.Taint()
		}))
	}
	for id := range gone {
		inTime(t, "a tainted thread has ended", func() bool { return !threadExists(id) })
	}
	shut(t, l)
}

// effective sets the effective user of the calling thread alone, which package syscall
// does for the whole process.
func effective(user int) error {
	const same = ^uintptr(0)
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, same, uintptr(user), same); e != 0 {
		return e
	}
	return nil
}

// forGood sets all users of the calling thread, which cannot be undone.
func forGood(user int) error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(user), uintptr(user), uintptr(user)); e != 0 {
		return e
	}
	return nil
}

const nobody = 54321

// needsRoot skips the test where this process may not be somebody else.
func needsRoot(t *testing.T) {
	t.Helper()
	l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}})
	defer shut(t, l)
	var err error
	require.NoError(t, on(t, l, func(th lane.Thread) { err = effective(nobody); th.Taint() }))
	if err != nil {
		t.Skipf("not with the rights of this process: %v", err)
	}
}

// Law: a call can act as another user. Its files are that user's; nobody else sees the
// change, neither other calls nor the rest of the process; and if the way back fails the
// thread is never used again.
func TestACallRunsAsAnotherUserAndNobodyElseDoes(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777)) //nolint:gosec // for the other user
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 3}})
	var mu sync.Mutex
	spoiled := make(map[int]bool)
	var wg sync.WaitGroup
	for caller := range 6 {
		wg.Go(func() {
			for i := range 20 {
				name := filepath.Join(dir, fmt.Sprintf("%d-%d", caller, i))
				way := i % 3 // stay oneself, go and come back, go for good
				err := on(t, l, func(th lane.Thread) {
					mu.Lock()
					if spoiled[th.ID()] {
						t.Errorf("thread %d again", th.ID())
					}
					spoiled[th.ID()] = way == 2
					mu.Unlock()
					if uid := syscall.Geteuid(); uid != 0 {
						t.Errorf("begins as %d", uid)
					}
					switch way {
					case 1:
						th.Restore(func() error { return effective(0) })
						if err := effective(nobody); err != nil {
							t.Error(err)
						}
					case 2:
						th.Restore(func() error { return forGood(0) })
						if err := forGood(nobody); err != nil {
							t.Error(err)
						}
					}
					if err := os.WriteFile(name, nil, 0o600); err != nil {
						t.Error(err)
					}
				})
				if _, failed := errors.AsType[*ioerr.RestoreError](err); failed != (way == 2) || failed && !errors.Is(err, syscall.EPERM) {
					t.Errorf("%v", err)
				}
				info, err := os.Stat(name)
				if err != nil {
					t.Error(err)
					return
				}
				want := uint32(0)
				if way != 0 {
					want = nobody
				}
				if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
					t.Errorf("%s belongs to %d, want %d", name, got, want)
				}
			}
		})
	}
	// The rest of the process, on whatever threads there are.
	over := make(chan struct{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if uid := syscall.Geteuid(); uid != 0 {
					t.Errorf("a goroutine outside the lane is %d", uid)
					return
				}
				time.Sleep(10 * time.Microsecond) // another thread
			}
		})
	}
	wg.Wait()
	close(over)
	others.Wait()
	inTime(t, "who went for good has ended", func() bool {
		for id, bad := range spoiled {
			if bad && threadExists(id) {
				return false
			}
		}
		return true
	})
	shut(t, l)
}

// Law: a namespace that a call has entered is seen by that call alone.
func TestANamespaceStaysWithItsThread(t *testing.T) {
	space := func(id int) string {
		at, err := os.Readlink(fmt.Sprintf("/proc/self/task/%d/ns/uts", id))
		if err != nil {
			t.Error(err)
		}
		return at
	}
	here := space(syscall.Getpid())
	l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 2}})
	defer shut(t, l)
	for range 20 {
		var refused error
		var id int
		require.NoError(t, on(t, l, func(th lane.Thread) {
			if got := space(th.ID()); got != here {
				t.Errorf("begins in %s, not in %s", got, here)
			}
			if refused = syscall.Unshare(syscall.CLONE_NEWUTS); refused != nil {
				return
			}
			th.Taint()
			if id = th.ID(); space(id) == here {
				t.Error("it is the old namespace")
			}
		}))
		if refused != nil {
			t.Skipf("not in this container: %v", refused)
		}
		if got := space(syscall.Getpid()); got != here {
			t.Errorf("the process is in %s, not in %s", got, here)
		}
		inTime(t, "the thread has ended", func() bool { return !threadExists(id) })
	}
}

// Law: with Keep a child that is to die with the thread that started it lives on, also
// when that thread is replaced, until the lane is shut down.
func TestKeepLetsTheChildrenOfAThreadLive(t *testing.T) {
	for _, keep := range []int{0, 2} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}, Keep: keep})
			child := exec.Command("cat")
			child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			stdin, err := child.StdinPipe()
			require.NoError(t, err)
			var id int
			require.NoError(t, on(t, l, func(th lane.Thread) {
				id = th.ID()
				if err := child.Start(); err != nil {
					t.Error(err)
				}
				th.Taint()
			}))
			require.NoError(t, on(t, l, func(th lane.Thread) {
				if th.ID() == id {
					t.Error("the tainted thread runs calls")
				}
			}))
			if keep == 0 {
				inTime(t, "the thread has ended", func() bool { return !threadExists(id) })
			} else {
				inTime(t, "the thread is kept", func() bool { return l.Stats().Threads.Kept == 1 })
				if !threadExists(id) {
					t.Error("the thread has ended")
				}
			}
			_ = stdin.Close() // ends a child that lives, in peace
			if err := child.Wait(); (err == nil) != (keep > 0) {
				t.Errorf("the child ended with %v", err)
			}
			shut(t, l)
			inTime(t, "kept threads end with the lane", func() bool { return !threadExists(id) })
		})
	}
}

// The threads have the name and the priority that were asked for.
func TestThreadsHaveWhatWasAskedFor(t *testing.T) {
	l, err := lane.NewPinned(lane.PinnedConfig{
		Config:     lane.Config{Name: "scan", Workers: 2},
		CPUs:       [][]int{{0}},
		Nice:       5,
		IOPriority: lane.IOPriority{Class: lane.IOIdle},
	})
	if errors.Is(err, ioerr.ErrUnsupported) {
		t.Skipf("not in this container: %v", err)
	}
	require.NoError(t, err)
	require.NoError(t, on(t, l, func(th lane.Thread) {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", th.ID()))
		if got, want := strings.TrimSpace(string(comm)), fmt.Sprint("scan-", th.Index()); got != want || err != nil {
			t.Errorf("name %q, %v, want %q", got, err, want)
		}
		const ownCount = 20 // the raw call counts nice values from there down
		if n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); ownCount-n != 5 || err != nil {
			t.Errorf("nice %d, %v", ownCount-n, err)
		}
	}))
	shut(t, l)
}

// A property that this process may not have is named, and matches what the system said.
func TestWhatIsForbiddenIsNamed(t *testing.T) {
	l, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Workers: 1}, CPUs: [][]int{{65535}}})
	e, ok := errors.AsType[*ioerr.UnsupportedError](err)
	if l != nil || !ok || e.What != "lane.PinnedConfig.CPUs" || !errors.Is(err, syscall.EINVAL) {
		t.Errorf("%v", err)
	}
	if _, ok := errors.AsType[*ioerr.StartError](err); !ok {
		t.Errorf("%v", err)
	}
}
