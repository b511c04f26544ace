package pinned

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
)

// alive reports whether the process has such a thread.
func alive(id int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", id))
	return err == nil
}

// eventually waits for what the kernel does in its own time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("not within a minute: " + what)
		}
	}
}

func TestSameNumberSameThread(t *testing.T) {
	s := open(t, Config{Threads: 3})
	ids := make([]int, 3)
	var mu sync.Mutex
	look := Func(func(th *Thread) {
		mu.Lock()
		defer mu.Unlock()
		if th.ID() != threadID() || th.ID() == syscall.Getpid() {
			t.Errorf("number %d: thread %d, says %d, process %d", th.Index(), threadID(), th.ID(), syscall.Getpid())
		}
		if was := ids[th.Index()]; was != 0 && was != th.ID() {
			t.Errorf("number %d: thread %d and %d", th.Index(), was, th.ID())
		}
		ids[th.Index()] = th.ID()
	})
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for range 50 {
				if err := s.Run(context.Background(), look); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	ids = slices.DeleteFunc(ids, func(id int) bool { return id == 0 })
	slices.Sort(ids)
	if n := len(ids); n == 0 || len(slices.Compact(ids)) != n {
		t.Fatalf("threads %v", ids)
	}
}

// Who is told that his task has run finds a thread idle.
func TestCallerComesBackToAnIdleThread(t *testing.T) {
	s := open(t, Config{Threads: 2})
	for range 500 {
		require.NoError(t, s.Run(t.Context(), Func(func(*Thread) {})))
		if got := s.Stats(); got.Idle != 2 {
			t.Fatalf("got %+v", got)
		}
	}
}

func TestTaintedThreadIsNeverSeenAgain(t *testing.T) {
	s := open(t, Config{Threads: 2})
	gone := make(map[int]bool)
	for i := range 100 {
		var id int
		err := s.Run(context.Background(), Func(func(th *Thread) {
			if id = th.ID(); gone[id] {
				t.Errorf("thread %d again", id)
			}
			switch gone[id] = true; i % 3 {
			case 0:
				th.Taint()
			case 1:
				th.Restore(func() error { return errHook })
			default:
				runtime.Goexit()
			}
		}))
		if (err == nil) != (i%3 == 0) {
			t.Fatal(err)
		}
	}
	for id := range gone {
		eventually(t, "the end of a tainted thread", func() bool { return !alive(id) })
	}
}

// What a task does to its thread is not inherited by the threads that come after.
func TestReplacementIsNotBornOfTheTaintedThread(t *testing.T) {
	s := open(t, Config{Threads: 1})
	nice := func() int {
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		return 20 - n // the raw call's own way to count
	}
	before := nice()
	for range 20 {
		require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) {
			if got := nice(); got != before {
				t.Errorf("nice %d, want %d", got, before)
			}
			if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, before+3); err != nil {
				t.Error(err)
			}
			th.Taint()
		})))
	}
}

// The same with what containers and mounts do: a working directory of its own.
func TestDirectoryOfATaintedThreadStaysWithIt(t *testing.T) {
	s := open(t, Config{Threads: 2})
	here, err := os.Readlink("/proc/self/cwd")
	require.NoError(t, err)
	elsewhere := t.TempDir()
	where := func(want string) {
		if got, err := os.Readlink(fmt.Sprintf("/proc/self/task/%d/cwd", threadID())); got != want || err != nil {
			t.Errorf("in %s, %v, want %s", got, err, want)
		}
	}
	for range 20 {
		require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) {
			where(here)
			if err = syscall.Unshare(syscall.CLONE_FS); err != nil {
				return
			}
			th.Taint()
			if err := syscall.Chdir(elsewhere); err != nil {
				t.Error(err)
			}
			where(elsewhere)
		})))
		if err != nil {
			t.Skipf("not in this container: %v", err)
		}
		seen := make(chan struct{})
		go func() { defer close(seen); where(here) }()
		<-seen
	}
}

func TestAttributesOfThreads(t *testing.T) {
	s, err := New(Config{
		Threads:    2,
		Name:       "a-name-that-is-long",
		CPUs:       [][]int{{0}},
		Nice:       7,
		IOPriority: IOPriority{IOBestEffort, 6},
	})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("not in this container: %v", err)
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close(context.Background())) }()
	require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", th.ID()))
		want := "a-name-that-i-" + strconv.Itoa(th.Index())
		if got := strings.TrimSpace(string(comm)); err != nil || got != want {
			t.Errorf("name %q, %v, want %q", got, err, want)
		}
		if n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); 20-n != 7 || err != nil {
			t.Errorf("nice %d, %v", 20-n, err)
		}
		var set [1024]byte
		n, _, e := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
		cpus := new(strings.Builder)
		for _, b := range set[:n] {
			fmt.Fprintf(cpus, "%b", b)
		}
		if got := strings.TrimRight(cpus.String(), "0"); e != 0 || got != "1" {
			t.Errorf("affinity %s, %v", got, e)
		}
		if p, _, e := syscall.RawSyscall(syscall.SYS_IOPRIO_GET, 1, 0, 0); e != 0 || p&0xffff != 2<<13|6 {
			t.Errorf("I/O priority %x, %v", p, e)
		}
	})))
}

func TestThreadNameKeepsItsNumber(t *testing.T) {
	for want, got := range map[string]string{
		"io-0":            threadName("io", 0),
		"thirteen-ch-123": threadName("thirteen-chars", 123),
		"-8191":           threadName("", 8191),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAttributeThatFailsIsNamed(t *testing.T) {
	s, err := New(Config{Threads: 2, CPUs: [][]int{{maxCPU - 1}}})
	e, ok := errors.AsType[*ioerr.UnsupportedError](err)
	if s != nil || !ok || e.What != "lane.PinnedConfig.CPUs" || !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("got %v, %v", s, err)
	}
	if _, ok := errors.AsType[*ioerr.StartError](err); !ok {
		t.Fatalf("got %v", err)
	}
}

// The death of a thread signals the children it has started; a kept one does not die.
func TestKeepLetsChildrenLive(t *testing.T) {
	for _, keep := range []int{0, 1} {
		t.Run(fmt.Sprintf("keep %d", keep), func(t *testing.T) {
			s := open(t, Config{Threads: 1, Keep: keep})
			child := exec.Command("cat")
			child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			stdin, err := child.StdinPipe()
			require.NoError(t, err)
			var id int
			require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) {
				id = th.ID()
				if err := child.Start(); err != nil {
					t.Error(err)
				}
				th.Taint()
			})))
			if keep == 0 {
				eventually(t, "the end of the thread", func() bool { return !alive(id) })
			} else {
				require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) {
					if th.ID() == id {
						t.Error("a kept thread runs tasks")
					}
				})))
				eventually(t, "the thread sleeps", func() bool { return s.Stats().Kept == 1 })
			}
			_ = stdin.Close() // ends a child that lives, in peace
			if err := child.Wait(); (err == nil) != (keep == 1) {
				t.Fatalf("the child ended with %v", err)
			}
			if keep == 1 && !alive(id) {
				t.Fatal("a kept thread has ended")
			}
		})
	}
}
