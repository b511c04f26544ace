package lane_test

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
)

// count is n, or many in a stress run (IOLANE_STRESS=1), which takes minutes.
func count(n, many int) int {
	if os.Getenv("IOLANE_STRESS") != "" {
		return many
	}
	return n
}

func threads(t testing.TB, c lane.Config) *lane.Threads {
	t.Helper()
	l, err := lane.NewThreads(c)
	require.NoError(t, err)
	return l
}

func sharded(t testing.TB, c lane.ShardedConfig) *lane.Sharded {
	t.Helper()
	l, err := lane.NewSharded(c)
	require.NoError(t, err)
	return l
}

// shut closes the lane at the end of the test.
func shut(t testing.TB, l lane.Lane) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := l.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v; %+v", err, l.Stats())
	}
}

// take enters where a slot must be free.
func take(t testing.TB, l lane.Lane, c lane.Call) lane.Slot {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s, err := l.Enter(ctx, c)
	require.NoError(t, err)
	return s
}

// caller is one call on a goroutine of its own.
type caller struct {
	cancel context.CancelFunc
	stay   chan struct{}
	once   sync.Once
	gone   chan struct{}
	inside atomic.Bool
	ran    atomic.Int64 // the how-manieth of its crew to begin, from 1
	err    error        // settled once gone is closed
}

// crew is callers of one lane. It counts how many are inside.
type crew struct {
	lane    lane.Lane
	inside  atomic.Int64
	peak    atomic.Int64
	started atomic.Int64
	all     []*caller
}

// send enters on a goroutine of its own; the caller stays until it is dismissed.
func (w *crew) send(ctx context.Context, c lane.Call) *caller {
	ctx, cancel := context.WithCancel(ctx)
	p := &caller{cancel: cancel, stay: make(chan struct{}), gone: make(chan struct{})}
	w.all = append(w.all, p)
	go func() {
		defer close(p.gone)
		defer cancel()
		s, err := w.lane.Enter(ctx, c)
		if p.err = err; err != nil {
			return
		}
		p.ran.Store(w.started.Add(1))
		w.begin()
		p.inside.Store(true)
		<-p.stay
		p.inside.Store(false)
		w.inside.Add(-1)
		w.lane.Leave(s)
	}()
	return p
}

func (w *crew) begin() {
	n := w.inside.Add(1)
	for p := w.peak.Load(); n > p && !w.peak.CompareAndSwap(p, n); p = w.peak.Load() {
	}
}

// sendAll sends n callers, each as far as it gets before the next. It must run in
// a bubble.
func (w *crew) sendAll(n int, c lane.Call) []*caller {
	var sent []*caller
	for range n {
		sent = append(sent, w.send(context.Background(), c))
		synctest.Wait()
	}
	return sent
}

func (p *caller) dismiss() { p.once.Do(func() { close(p.stay) }) }

// left reports whether the caller has left or was refused.
func (p *caller) left() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// waits reports whether the caller is in Enter. It must run in a bubble.
func (p *caller) waits() bool {
	synctest.Wait()
	return !p.inside.Load() && !p.left()
}

// disband lets everybody leave and waits for it.
func (w *crew) disband() {
	for _, p := range w.all {
		p.dismiss()
	}
	for _, p := range w.all {
		<-p.gone
	}
	w.all = nil
}

// bubble runs a test in a bubble, with a crew for the lane.
func bubble(t *testing.T, open func(t testing.TB) lane.Lane, f func(t *testing.T, w *crew)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &crew{lane: open(t)}
		defer shut(t, w.lane)
		defer w.disband()
		f(t, w)
	})
}

// wantInside compares who is inside.
func wantInside(t *testing.T, want bool, callers ...*caller) {
	t.Helper()
	synctest.Wait()
	for i, p := range callers {
		if got := p.inside.Load(); got != want {
			t.Errorf("caller %d of %d is inside: %v, want %v", i+1, len(callers), got, want)
		}
	}
}

// addUp compares the sums of a snapshot, for the shards too.
func addUp(t *testing.T, s lane.Stats) {
	t.Helper()
	if s.Accepted != s.Started+uint64(s.Queued)+s.Dropped ||
		s.Started != s.Completed+uint64(s.Running) ||
		s.Submitted != s.Accepted+uint64(s.Waiting)+s.Refused.Total() {
		t.Errorf("a snapshot does not add up: %+v", s)
	}
	if s.Running < 0 || s.Queued < 0 || s.Waiting < 0 {
		t.Errorf("a snapshot has fewer than none: %+v", s)
	}
	for _, shard := range s.Shards {
		addUp(t, shard)
	}
}
