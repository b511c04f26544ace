package lane_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

const (
	maxWorkers = 65535
	maxQueue   = 1 << 24
	maxWaiters = 1 << 26
)

// configs are values of each field with whether they can be used.
var configs = []struct {
	field  string
	value  any
	config lane.Config
	ok     bool
}{
	{"Workers", -1, lane.Config{Workers: -1}, false},
	{"Workers", math.MinInt, lane.Config{Workers: math.MinInt}, false},
	{"Workers", 1, lane.Config{Workers: 1}, true},
	{"Workers", maxWorkers, lane.Config{Workers: maxWorkers, Threadless: true}, true},
	{"Workers", maxWorkers + 1, lane.Config{Workers: maxWorkers + 1}, false},
	{"Workers", math.MaxInt, lane.Config{Workers: math.MaxInt}, false},

	{"Queue", lane.NoQueue, lane.Config{Queue: lane.NoQueue}, true},
	{"Queue", -2, lane.Config{Queue: -2}, false},
	{"Queue", math.MinInt, lane.Config{Queue: math.MinInt}, false},
	{"Queue", 1, lane.Config{Queue: 1}, true},
	{"Queue", maxQueue, lane.Config{Queue: maxQueue}, true},
	{"Queue", maxQueue + 1, lane.Config{Queue: maxQueue + 1}, false},
	{"Queue", math.MaxInt, lane.Config{Queue: math.MaxInt}, false},

	{"Waiters", lane.NoWaiters, lane.Config{Waiters: lane.NoWaiters}, true},
	{"Waiters", -2, lane.Config{Waiters: -2}, false},
	{"Waiters", math.MinInt, lane.Config{Waiters: math.MinInt}, false},
	{"Waiters", 1, lane.Config{Waiters: 1}, true},
	{"Waiters", maxWaiters, lane.Config{Waiters: maxWaiters}, true},
	{"Waiters", maxWaiters + 1, lane.Config{Waiters: maxWaiters + 1}, false},
	{"Waiters", math.MaxInt, lane.Config{Waiters: math.MaxInt}, false},

	{"Policy", lane.Wait, lane.Config{Policy: lane.Wait}, true},
	{"Policy", lane.FailFast, lane.Config{Policy: lane.FailFast}, true},
	{"Policy", lane.FailFast + 1, lane.Config{Policy: lane.FailFast + 1}, false},
	{"Policy", lane.Policy(255), lane.Config{Policy: 255}, false},

	{"Order", lane.FIFO, lane.Config{Order: lane.FIFO}, true},
	{"Order", lane.LIFO, lane.Config{Order: lane.LIFO}, true},
	{"Order", lane.LIFO + 1, lane.Config{Order: lane.LIFO + 1}, false},
	{"Order", lane.Order(255), lane.Config{Order: 255}, false},

	{"Patience", lane.Strict, lane.Config{Patience: lane.Strict}, true},
	{"Patience", time.Duration(1), lane.Config{Patience: 1}, true},
	{"Patience", time.Duration(math.MaxInt64), lane.Config{Patience: math.MaxInt64}, true},
	{"Patience", time.Duration(math.MinInt64), lane.Config{Patience: math.MinInt64}, true},

	{"Reserved", -1, lane.Config{Workers: 4, Reserved: -1}, false},
	{"Reserved", 3, lane.Config{Workers: 4, Reserved: 3}, true},
	{"Reserved", 4, lane.Config{Workers: 4, Reserved: 4}, false},
	{"Reserved", math.MaxInt, lane.Config{Workers: 4, Reserved: math.MaxInt}, false},
	{"Reserved", math.MinInt, lane.Config{Workers: 4, Reserved: math.MinInt}, false},
	{"Reserved", maxWorkers - 1, lane.Config{Workers: maxWorkers, Reserved: maxWorkers - 1, Threadless: true}, true},

	{"PerKey", -1, lane.Config{PerKey: -1}, false},
	{"PerKey", 1, lane.Config{PerKey: 1}, true},
	{"PerKey", maxWorkers, lane.Config{PerKey: maxWorkers}, true},
	{"PerKey", maxWorkers + 1, lane.Config{PerKey: maxWorkers + 1}, false},
	{"PerKey", math.MinInt, lane.Config{PerKey: math.MinInt}, false},
}

// wantArgument compares an error about a field or argument.
func wantArgument(t *testing.T, err error, name string, value any) {
	t.Helper()
	if !errors.Is(err, ioerr.ErrInvalid) || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%s = %v: the error %v does not match ErrInvalid", name, value, err)
	}
	e, ok := errors.AsType[*ioerr.ArgumentError](err)
	if !ok {
		t.Errorf("%s = %v: the error is %T, want *ioerr.ArgumentError", name, value, err)
		return
	}
	if e.Name != name || e.Value != value {
		t.Errorf("the error is about %s = %v, want %s = %v", e.Name, e.Value, name, value)
	}
	for _, part := range []string{name, fmt.Sprint(value)} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not tell %s", err, part)
		}
	}
}

func TestEachFieldOfConfigIsChecked(t *testing.T) {
	for _, c := range configs {
		if c.config.Workers == 0 && c.field != "Workers" {
			c.config.Workers = 4
		}
		for name, open := range map[string]func() (lane.Lane, error){
			"Threads": func() (lane.Lane, error) { return lane.NewThreads(c.config) },
			"Sharded": func() (lane.Lane, error) {
				return lane.NewSharded(lane.ShardedConfig{Shards: 2, Config: c.config})
			},
		} {
			l, err := open()
			if c.ok {
				if err != nil {
					t.Errorf("%s with %s = %v: %v", name, c.field, c.value, err)
					continue
				}
				l.Leave(take(t, l, lane.Call{}))
				shut(t, l)
				continue
			}
			if l != nil && !isNil(l) {
				t.Errorf("%s with %s = %v gave a lane with the error %v", name, c.field, c.value, err)
			}
			wantArgument(t, err, "lane.Config."+c.field, c.value)
		}
	}
}

// isNil reports whether a lane is a nil pointer.
func isNil(l lane.Lane) bool {
	switch l := l.(type) {
	case *lane.Threads:
		return l == nil
	case *lane.Sharded:
		return l == nil
	}
	return false
}

func TestTheNumberOfShardsIsChecked(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 65, math.MaxInt} {
		_, err := lane.NewSharded(lane.ShardedConfig{Shards: n})
		wantArgument(t, err, "lane.ShardedConfig.Shards", n)
	}
	for _, n := range []int{1, 64} {
		l := sharded(t, lane.ShardedConfig{Shards: n})
		if got := max(len(l.Stats().Shards), 1); got != n {
			t.Errorf("there are %d shards, want %d", got, n)
		}
		shut(t, l)
	}
}

func TestDefaultsAreAsDocumented(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	l := threads(t, lane.Config{})
	if got := l.Stats().Workers; got != procs {
		t.Errorf("a lane has %d workers, want GOMAXPROCS = %d", got, procs)
	}
	shut(t, l)
	s := sharded(t, lane.ShardedConfig{})
	if got, want := max(len(s.Stats().Shards), 1), min(procs, 64); got != want {
		t.Errorf("a lane has %d shards, want %d", got, want)
	}
	if got, want := s.Stats().Workers, min(procs, 64)*max(procs/min(procs, 64), 1); got != want {
		t.Errorf("a sharded lane has %d workers, want %d", got, want)
	}
	shut(t, s)
	s = sharded(t, lane.ShardedConfig{Shards: 64})
	if got, want := s.Stats().Workers, 64*max(procs/64, 1); got != want {
		t.Errorf("64 shards have %d workers, want %d", got, want)
	}
	shut(t, s)
}

// Queue 256, Waiters 4 x Queue, Policy Wait, Order FIFO, nothing reserved.
func TestDefaultBoundsAreTrue(t *testing.T) {
	bubble(t, func(t testing.TB) lane.Lane { return threads(t, lane.Config{Workers: 1}) }, func(t *testing.T, w *crew) {
		w.sendAll(1+256, lane.Call{})
		if s := w.lane.Stats(); s.Running != 1 || s.Queued != 256 || s.Waiting != 0 {
			t.Errorf("%d running, %d queued, %d waiting; want 1, 256, 0", s.Running, s.Queued, s.Waiting)
		}
		if p := w.sendAll(1, lane.Call{Policy: lane.FailFast})[0]; !errors.Is(p.err, ioerr.ErrQueueFull) {
			t.Errorf("the 257th got %v, want %v", p.err, ioerr.ErrQueueFull)
		}
		w.sendAll(1024, lane.Call{})
		if s := w.lane.Stats(); s.Queued != 256 || s.Waiting != 1024 {
			t.Errorf("%d queued, %d waiting; want 256, 1024", s.Queued, s.Waiting)
		}
		if p := w.sendAll(1, lane.Call{})[0]; !errors.Is(p.err, ioerr.ErrOverloaded) {
			t.Errorf("the 1025th waiter got %v, want %v", p.err, ioerr.ErrOverloaded)
		}
	})
}

func TestWaitersAreFourTimesTheQueue(t *testing.T) {
	bubble(t, func(t testing.TB) lane.Lane { return threads(t, lane.Config{Workers: 1, Queue: 3}) }, func(t *testing.T, w *crew) {
		w.sendAll(1+3+12, lane.Call{})
		if s := w.lane.Stats(); s.Queued != 3 || s.Waiting != 12 {
			t.Errorf("%d queued, %d waiting; want 3, 12", s.Queued, s.Waiting)
		}
		if p := w.sendAll(1, lane.Call{})[0]; !errors.Is(p.err, ioerr.ErrOverloaded) {
			t.Errorf("the 13th waiter got %v, want %v", p.err, ioerr.ErrOverloaded)
		}
	})
}

// The default is a millisecond: less, and a newcomer may pass; more, and not.
func TestDefaultPatienceIsAMillisecond(t *testing.T) {
	for _, waited := range []time.Duration{time.Millisecond - 1, time.Millisecond} {
		bubble(t, func(t testing.TB) lane.Lane { return threads(t, lane.Config{Workers: 1}) }, func(t *testing.T, w *crew) {
			s := take(t, w.lane, lane.Call{})
			p := w.sendAll(1, lane.Call{})[0]
			time.Sleep(waited)
			synctest.Wait()
			w.lane.Leave(s)
			s, err := w.lane.Enter(t.Context(), lane.Call{NoWait: true})
			if err == nil {
				w.lane.Leave(s)
			}
			if got, want := err == nil, waited < time.Millisecond; got != want {
				t.Errorf("a newcomer overtook a caller that had waited for %v: %v, want %v", waited, got, want)
			}
			wantInside(t, true, p)
		})
	}
}

func TestTheNameIsThatOfTheConfig(t *testing.T) {
	for _, name := range []string{"", "disk a", "\x00\xff"} {
		for _, l := range []lane.Lane{
			threads(t, lane.Config{Name: name}),
			sharded(t, lane.ShardedConfig{Config: lane.Config{Name: name}}),
			lane.NewInline(name),
		} {
			if l.Name() != name || l.Stats().Name != name {
				t.Errorf("%T is called %q and its statistics %q, want %q", l, l.Name(), l.Stats().Name, name)
			}
			shut(t, l)
		}
	}
}
