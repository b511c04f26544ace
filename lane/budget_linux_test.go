package lane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// limitVar asks TestRunUnderALimitOnThreads, in a process of its own, for a limit of 64
// threads, for what is to be done under it, and for the limit's name.
const limitVar = "IOLANE_LANE_LIMIT"

const taskLimit = 64

// limited are the ways to let a process have 64 threads. Each prepares the start of a
// child, which sets the limit itself; or it skips the test with the reason.
var limited = map[string]func(t *testing.T, cmd *exec.Cmd) (arg string){
	"pids cgroup":  inCgroup,
	"RLIMIT_NPROC": asUser,
}

// inCgroup makes a cgroup that the child will go into.
func inCgroup(t *testing.T, _ *exec.Cmd) string {
	var reasons []string
	for _, top := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		dir := filepath.Join(top, fmt.Sprint("iolane-test-", os.Getpid()))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			t.Cleanup(func() { require.NoError(t, syscall.Rmdir(dir)) }) // what is in it goes with it
			err = set(filepath.Join(dir, "pids.max"), fmt.Sprint(taskLimit))
		}
		if err == nil {
			return dir
		}
		reasons = append(reasons, err.Error())
	}
	t.Skip("no cgroup with a limit can be made here: ", strings.Join(reasons, "; "))
	return ""
}

// set writes to a file that is there.
func set(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// asUser has the child run as a user who has no other processes: root is exempt from
// the limit, and for all others it counts every thread of theirs.
func asUser(t *testing.T, cmd *exec.Cmd) string {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process as a user who has no others")
	}
	id := uint32(1<<31 - 2 - os.Getpid()) // nobody's
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id, Gid: id}
	// A place that this user can enter: that of a test binary is not one.
	dir := t.TempDir()
	for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755))
	}
	from, err := os.Open(cmd.Path)
	require.NoError(t, err)
	defer from.Close()
	cmd.Path = filepath.Join(dir, "lane.test")
	cmd.Dir = "/"
	to, err := os.OpenFile(cmd.Path, os.O_WRONLY|os.O_CREATE, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return "-"
}

func runLimited(t *testing.T, limit, what string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestRunUnderALimitOnThreads$", "-test.v", "-test.timeout=100s")
	cmd.SysProcAttr = new(syscall.SysProcAttr)
	arg := limited[limit](t, cmd)
	// Two processors, so that the room beside them does not depend on the machine.
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", limitVar, what, arg, limit), "GOMAXPROCS=2", "GOTRACEBACK=single", "GOCOVERDIR="+os.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Skipf("cannot start a process under %s: %v", limit, err)
	}
	return out.String(), err
}

// Whoever asks for more threads than there may be is told, and whoever asks for less
// can block them all: the process lives and goes on with other work.
func TestAProcessUnderALimitOnThreadsLivesAndServes(t *testing.T) {
	for limit := range limited {
		t.Run(limit, func(t *testing.T) {
			out, err := runLimited(t, limit, "serve")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Log(strings.TrimSpace(out))
		})
	}
}

// The counterpart: with a lane that lies about its calls the same process dies. So
// the limit of the test above is one, and nothing can catch it.
func TestAProcessThatExceedsItsLimitOnThreadsDies(t *testing.T) {
	for limit := range limited {
		t.Run(limit, func(t *testing.T) {
			out, err := runLimited(t, limit, "exceed")
			e, ok := errors.AsType[*exec.ExitError](err)
			if !ok || e.Success() {
				t.Fatalf("it ended with %v\n%s", err, out)
			}
			if !strings.Contains(out, "failed to create new OS thread") && !strings.Contains(out, "pthread_create failed") {
				t.Errorf("it ended with %v, but for another reason:\n%s", err, out)
			}
		})
	}
}

func TestRunUnderALimitOnThreads(t *testing.T) {
	var what, dir, limit string
	if n, _ := fmt.Sscan(os.Getenv(limitVar), &what, &dir, &limit); n != 3 {
		t.Skip("run by tests of limits on threads")
	}
	switch limit {
	case "RLIMIT_NPROC":
		const rlimitNproc = 6 // but on some MIPS
		most := syscall.Rlimit{Cur: taskLimit, Max: taskLimit}
		require.NoError(t, syscall.Setrlimit(rlimitNproc, &most))
	default:
		require.NoError(t, set(filepath.Join(dir, "cgroup.procs"), "0"))
		limit = filepath.Join(dir, "pids.max")
	}
	if what == "exceed" {
		exceed(t)
	} else {
		serve(t, limit)
	}
}

// serve asks for a thousand slots, and then for 32, which it blocks in the kernel.
func serve(t *testing.T, limit string) {
	_, err := lane.NewThreads(lane.Config{Name: "disk", Workers: 1000})
	e, ok := errors.AsType[*ioerr.ThreadLimitError](err)
	if !ok || !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Fatalf("a lane of 1,000 got %v", err)
	}
	if e.Lane != "disk" || e.Threads != 1000 || e.Others != 0 || e.Limit != taskLimit || e.By != limit || e.Kept < runtime.GOMAXPROCS(0) || e.Kept > 20 {
		t.Errorf("the error says %+v", *e)
	}
	t.Log(err)

	const slots = 32
	full := threads(t, lane.Config{Workers: slots, Queue: 1, Policy: lane.FailFast})
	w := &crew{lane: full}
	wait, open := blockAll(t, w, slots)
	if n := countThreads(t); n < slots || n > taskLimit {
		t.Errorf("%d threads with %d of them blocked", n, slots)
	}
	queued := w.send(t.Context(), lane.Call{})
	for full.Stats().Queued == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := full.Enter(t.Context(), lane.Call{}); !errors.Is(err, ioerr.ErrQueueFull) {
		t.Errorf("a call of the full lane got %v, want %v", err, ioerr.ErrQueueFull)
	}

	// Another lane serves while all that is blocked, in threads too.
	other := threads(t, lane.Config{Workers: 4})
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			s := take(t, other, lane.Call{})
			ts := syscall.NsecToTimespec(int64(time.Millisecond))
			_ = syscall.Nanosleep(&ts, nil)
			other.Leave(s)
		})
	}
	wg.Wait()
	if _, err := lane.NewThreads(lane.Config{Name: "disk", Workers: slots}); !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Errorf("a second lane of %d got %v, want %v", slots, err, ioerr.ErrThreadLimit)
	}

	open()
	wait()
	queued.dismiss()
	<-queued.gone
	if queued.err != nil {
		t.Errorf("the call in the queue got %v", queued.err)
	}
	if s := full.Stats(); s.Completed != slots+1 || s.Refused.QueueFull != 1 {
		t.Errorf("%d calls completed and %d refused, want %d and 1", s.Completed, s.Refused.QueueFull, slots+1)
	}
	shut(t, full)
	shut(t, other)
	t.Logf("%d threads in the end", countThreads(t))
}

// exceed blocks more threads than there may be, and does not come back.
func exceed(t *testing.T) {
	l := threads(t, lane.Config{Workers: 2 * taskLimit, Threadless: true})
	_, open := blockAll(t, &crew{lane: l}, 2*taskLimit)
	open()
	t.Logf("there are %d threads", countThreads(t))
}

// blockAll blocks n calls in the kernel, in readings of a pipe that is empty until open.
func blockAll(t *testing.T, w *crew, n int) (wait, open func()) {
	t.Helper()
	r, gate, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	fd := int(r.Fd()) // in blocking mode from here on
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			s := take(t, w.lane, lane.Call{})
			w.begin()
			for {
				if _, err := syscall.Read(fd, make([]byte, 1)); !errors.Is(err, syscall.EINTR) {
					break
				}
			}
			w.inside.Add(-1)
			w.lane.Leave(s)
		})
	}
	until := time.Now().Add(30 * time.Second)
	for int(w.inside.Load()) < n || countBlocked(t) < n {
		if time.Now().After(until) {
			t.Fatalf("%d calls run and %d threads are blocked, want %d", w.inside.Load(), countBlocked(t), n)
		}
		time.Sleep(time.Millisecond)
	}
	return wg.Wait, func() { require.NoError(t, gate.Close()) }
}

// countBlocked counts the threads that read a pipe, by what the kernel says they wait
// in; where it does not say that, all threads count.
func countBlocked(t *testing.T) int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/syscall")
	require.NoError(t, err)
	n := 0
	for _, task := range tasks {
		call, err := os.ReadFile(task)
		if err != nil || strings.HasPrefix(string(call), fmt.Sprint(syscall.SYS_READ, " ")) {
			n++
		}
	}
	return n
}
