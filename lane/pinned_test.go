package lane_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// job is a task made of a function, which notes how it ended.
type job struct {
	run   func(lane.Thread)
	ran   int
	ended int
	err   error // what End was given
}

func (j *job) Run(on lane.Thread) { j.ran++; j.run(on) }
func (j *job) Ending(error)       {}
func (j *job) Left(time.Duration) {}
func (j *job) End(_ bool, err error) {
	j.ended++
	j.err = err
}

func pinnedLane(t testing.TB, c lane.PinnedConfig) *lane.Pinned {
	t.Helper()
	l, err := lane.NewPinned(c)
	require.NoError(t, err)
	return l
}

// on runs f on a thread of the lane and returns what went wrong with the thread after it.
func on(t testing.TB, l *lane.Pinned, f func(lane.Thread)) error {
	t.Helper()
	j := &job{run: f}
	if err := l.Carry(context.Background(), lane.Call{}, j); err != nil || j.ran != 1 || j.ended != 1 {
		t.Errorf("%v; ran %d times, ended %d times", err, j.ran, j.ended)
	}
	return j.err
}

// log is what hooks have done.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (g *log) add(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

func (g *log) take() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	lines := g.lines
	g.lines = nil
	slices.Sort(lines)
	return lines
}

// hooked is a config whose hooks write to the log.
func (g *log) hooked(workers int) lane.PinnedConfig {
	return lane.PinnedConfig{
		Config: lane.Config{Workers: workers},
		Start:  func(i int) error { g.add("start %d", i); return nil },
		Stop:   func(i int) { g.add("stop %d", i) },
	}
}

// Law: Start runs on each thread before NewPinned returns, Stop before Shutdown does.
func TestStartAndStopRunOnceOnEachThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g log
		l := pinnedLane(t, g.hooked(3))
		require.Equal(t, []string{"start 0", "start 1", "start 2"}, g.take())
		for range 10 {
			require.NoError(t, on(t, l, func(th lane.Thread) {
				if !th.Exists() || th.Index() < 0 || th.Index() > 2 || th.Tainted() {
					t.Errorf("%+v", th)
				}
			}))
		}
		if s := l.Stats(); s.Threads != (lane.ThreadStats{Alive: 3}) || s.Completed != 10 {
			t.Errorf("%+v", s)
		}
		require.Empty(t, g.take())
		shut(t, l)
		require.Equal(t, []string{"stop 0", "stop 1", "stop 2"}, g.take())
		shut(t, l)
		require.Empty(t, g.take())
		if s := l.Stats(); s.Threads != (lane.ThreadStats{Vacant: 3}) {
			t.Errorf("%+v", s.Threads)
		}
	})
}

// Law: a thread is replaced after a call that has tainted it, that ended its goroutine, or
// whose Restore failed; not after one whose Restore succeeded.
func TestAThreadIsReplacedWhenItsStateIsNotItsOwn(t *testing.T) {
	bad := errors.New("cannot go back")
	for name, test := range map[string]struct {
		call     func(lane.Thread)
		replaced bool
		err      error
		panics   bool
	}{
		"untouched":          {call: func(lane.Thread) {}},
		"restored":           {call: func(th lane.Thread) { th.Restore(func() error { return nil }) }},
		"tainted":            {call: func(th lane.Thread) { th.Taint() }, replaced: true},
		"Goexit":             {call: func(lane.Thread) { runtime.Goexit() }, replaced: true},
		"Restore fails":      {call: func(th lane.Thread) { th.Restore(func() error { return bad }) }, replaced: true, err: bad},
		"Restore panics":     {call: func(th lane.Thread) { th.Restore(func() error { panic(bad) }) }, replaced: true, err: bad, panics: true},
		"Goexit, no Restore": {call: func(th lane.Thread) { th.Restore(func() error { return bad }); runtime.Goexit() }, replaced: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g log
				l := pinnedLane(t, g.hooked(1))
				err := on(t, l, test.call)
				restore, ok := errors.AsType[*ioerr.RestoreError](err)
				if !errors.Is(err, test.err) || (test.err != nil) != ok {
					t.Errorf("%v, %v", err, restore)
				}
				if _, ok := errors.AsType[*ioerr.PanicError](err); ok != test.panics {
					t.Errorf("%v", err)
				}
				require.NoError(t, on(t, l, func(th lane.Thread) {
					if th.Index() != 0 || th.Tainted() {
						t.Errorf("number %d, tainted %v", th.Index(), th.Tainted())
					}
				}))
				want, retired := []string{"start 0"}, uint64(0)
				if test.replaced {
					want, retired = []string{"start 0", "start 0", "stop 0"}, 1
				}
				synctest.Wait() // the old one goes while the new one serves
				require.Equal(t, want, g.take())
				if s := l.Stats(); s.Threads != (lane.ThreadStats{Alive: 1, Retired: retired}) {
					t.Errorf("%+v", s.Threads)
				}
				shut(t, l)
			})
		})
	}
}

// What was changed last is put back first.
func TestRestoreGoesBackwards(t *testing.T) {
	l := pinnedLane(t, lane.PinnedConfig{})
	var order []int
	require.NoError(t, on(t, l, func(th lane.Thread) {
		for i := range 3 {
			th.Restore(func() error { order = append(order, i); return nil })
		}
	}))
	require.Equal(t, []int{2, 1, 0}, order)
	shut(t, l)
}

// Law: what comes by Enter is refused, with a type and a reason; a closed lane says so.
func TestPinnedLetsNobodyEnter(t *testing.T) {
	l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}})
	_, err := l.Enter(t.Context(), lane.Call{})
	e, ok := errors.AsType[*ioerr.UnsupportedError](err)
	if !ok || e.What != "lane.Pinned.Enter" || !errors.Is(err, ioerr.ErrUnsupported) || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if _, ok := l.Try(); ok {
		t.Error("Try got a slot")
	}
	if got := testing.AllocsPerRun(100, func() { _, _ = l.Enter(context.Background(), lane.Call{}) }); got != 0 {
		t.Errorf("a refusal makes %v allocations", got)
	}
	if c := l.Capabilities(); c != (lane.Capabilities{DedicatedThreads: true, Execution: lane.Guaranteed}) {
		t.Errorf("%+v", c)
	}
	l.GiveUp(1, nil)
	shut(t, l)
	_, err = l.Enter(t.Context(), lane.Call{})
	require.ErrorIs(t, err, ioerr.ErrShutdown)
	var none context.Context
	_, err = l.Enter(none, lane.Call{})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	var zero lane.Pinned
	_, err = zero.Enter(t.Context(), lane.Call{})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	require.ErrorIs(t, zero.Carry(t.Context(), lane.Call{}, &job{}), ioerr.ErrInvalid)
	require.NoError(t, zero.Shutdown(t.Context()))
	if s := zero.Stats(); s.Threads != (lane.ThreadStats{}) {
		t.Errorf("%+v", s)
	}
}

// Law: a field that cannot be used is named.
func TestPinnedChecksItsConfig(t *testing.T) {
	for name, c := range map[string]lane.PinnedConfig{
		"lane.PinnedConfig.Workers":    {Config: lane.Config{Workers: 8193}},
		"lane.Config.Workers":          {Config: lane.Config{Workers: -1}},
		"lane.Config.Queue":            {Config: lane.Config{Queue: -2}},
		"lane.PinnedConfig.Name":       {Config: lane.Config{Name: "a\x00"}},
		"lane.PinnedConfig.CPUs":       {CPUs: [][]int{{}}},
		"lane.PinnedConfig.Nice":       {Nice: -21},
		"lane.PinnedConfig.IOPriority": {IOPriority: lane.IOPriority{Class: lane.IOIdle, Level: 1}},
		"lane.PinnedConfig.Keep":       {Config: lane.Config{Workers: 8192}, Keep: 8192},
		"lane.PinnedConfig.Threadless": {Config: lane.Config{Threadless: true}},
	} {
		l, err := lane.NewPinned(c)
		if arg, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || l != nil || arg.Name != name || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Law: a field that the platform cannot have is named, and matches errors.ErrUnsupported.
func TestWhatThePlatformLacksIsNamed(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Skip("Linux has them all")
	}
	for name, c := range map[string]lane.PinnedConfig{
		"CPUs":       {CPUs: [][]int{{0}}},
		"Nice":       {Nice: 1},
		"IOPriority": {IOPriority: lane.IOPriority{Class: lane.IOIdle}},
	} {
		l, err := lane.NewPinned(c)
		e, ok := errors.AsType[*ioerr.UnsupportedError](err)
		if l != nil || !ok || e.What != "lane.PinnedConfig."+name || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Law: a call without an option of its own costs no allocation.
func TestACarriedCallOnAThreadAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}})
	j := &job{run: func(lane.Thread) {}}
	batch := []lane.Task{j, j, j, j}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, f := range map[string]func(){
		"Carry":      func() { _ = l.Carry(ctx, lane.Call{Label: "l"}, j) },
		"CarryBatch": func() { _, _ = l.CarryBatch(ctx, lane.Call{}, batch) },
	} {
		f()
		if got := testing.AllocsPerRun(200, f); got != 0 {
			t.Errorf("%s makes %v allocations", name, got)
		}
	}
	shut(t, l)
}
