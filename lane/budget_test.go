package lane_test

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// resizer is a lane of ours.
type resizer interface {
	lane.Lane
	Resize(n int) error
}

// claimants make lanes that may need n threads, n even and at least 4.
var claimants = map[string]func(n int, threadless bool) (resizer, error){
	"Threads": func(n int, threadless bool) (resizer, error) {
		return orNil(lane.NewThreads(lane.Config{Name: "disk", Workers: n, Threadless: threadless}))
	},
	"Sharded": func(n int, threadless bool) (resizer, error) {
		return orNil(lane.NewSharded(lane.ShardedConfig{Shards: 2, Config: lane.Config{Name: "disk", Workers: n / 2, Threadless: threadless}}))
	},
	"Abandoning": func(n int, threadless bool) (resizer, error) {
		return orNil(lane.NewAbandoning(lane.AbandoningConfig{Left: 2, Config: lane.Config{Name: "disk", Workers: n - 2, Threadless: threadless}}))
	},
}

// orNil makes no lane of a nil pointer.
func orNil[L interface {
	resizer
	comparable
}](l L, err error) (resizer, error) {
	var none L
	if l == none {
		return nil, err
	}
	return l, err
}

// room is how many threads a lane of this process may need if it is the only one. A
// lane that asks for all threads of all is always refused, and says so.
func room(t *testing.T) int {
	t.Helper()
	for range 2 { // lanes of other tests, forgotten
		runtime.GC()
	}
	_, err := lane.NewSharded(lane.ShardedConfig{Shards: 64, Config: lane.Config{Workers: maxWorkers}})
	e, ok := errors.AsType[*ioerr.ThreadLimitError](err)
	if !ok {
		t.Fatalf("a lane for four million threads got %v", err)
	}
	if e.Threads != 64*maxWorkers || e.Limit-e.Kept > math.MaxInt32 || e.By == "" {
		t.Errorf("the error says %+v", e)
	}
	if n := e.Limit - e.Kept; n < 200 {
		t.Skipf("there is room for %d threads only: %v", n, err)
	}
	return (e.Limit - e.Kept) &^ 3
}

func wantThreadLimit(t *testing.T, err error, threads int) {
	t.Helper()
	e, ok := errors.AsType[*ioerr.ThreadLimitError](err)
	if !ok || !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Errorf("the error is %v, want an *ioerr.ThreadLimitError that matches ErrThreadLimit", err)
		return
	}
	if e.Lane != "disk" || e.Threads != threads || threads+e.Others <= e.Limit-e.Kept {
		t.Errorf("the error says %+v, want lane disk, %d threads, and that they are too many", *e, threads)
	}
}

func TestLanesTogetherMayNotNeedMoreThreadsThanTheProcessMayHave(t *testing.T) {
	for name, open := range claimants {
		t.Run(name, func(t *testing.T) {
			most := room(t)
			first, err := open(most/4*2, false)
			require.NoError(t, err)
			for _, n := range []int{most/4*2 + 4, most &^ 1} { // whatever the kind
				for other, open := range claimants {
					l, err := open(n, false)
					if l != nil {
						t.Errorf("a lane of kind %s in spite of all", other)
					}
					wantThreadLimit(t, err, n)
				}
			}
			l, err := open(most, true)
			if err != nil {
				t.Errorf("a lane that needs no threads got %v", err)
			} else {
				shut(t, l)
			}
			shut(t, first)
			again, err := open(most/4*3, false) // there is room again
			if err != nil {
				t.Errorf("after the shutdown of another: %v", err)
				return
			}
			shut(t, again)
		})
	}
}

func TestAForgottenLaneTakesNoThreadsFromOthers(t *testing.T) {
	for name, open := range claimants {
		t.Run(name, func(t *testing.T) {
			most := room(t)
			for range 4 {
				for end := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
					l, err := open(most/4*3, false)
					if err == nil {
						l.Leave(take(t, l, lane.Call{Key: "k"}))
						break
					}
					if runtime.GC(); time.Now().After(end) {
						t.Fatal("a lane that was forgotten holds its threads: ", err)
					}
				}
			}
		})
	}
}

func TestResizeIsHeldAgainstTheLimitOnThreads(t *testing.T) {
	for name, open := range claimants {
		t.Run(name, func(t *testing.T) {
			most := room(t)
			each, left := 1, 0 // threads for each slot of Resize, and beside them
			switch name {
			case "Sharded":
				each = 2
			case "Abandoning":
				left = 2
			}
			other, err := lane.NewThreads(lane.Config{Workers: most / 2})
			require.NoError(t, err)
			l, err := open(4, false)
			require.NoError(t, err)
			slots := l.Stats().Workers
			for _, n := range []int{most/2/each + 4, most / each} {
				wantThreadLimit(t, l.Resize(n), n*each+left)
				if got := l.Stats().Workers; got != slots {
					t.Errorf("%d slots after a Resize that was refused, want %d", got, slots)
				}
			}
			shut(t, other)
			require.NoError(t, l.Resize(most/4*3/each)) // there is room again
			if l2, err := lane.NewThreads(lane.Config{Name: "disk", Workers: most / 2}); err == nil {
				t.Error("the threads of a lane that has grown were not counted")
				shut(t, l2)
			}
			require.NoError(t, l.Resize(4))
			l2, err := lane.NewThreads(lane.Config{Name: "disk", Workers: most / 2})
			if err != nil {
				t.Errorf("a lane that has shrunk holds threads: %v", err)
			} else {
				shut(t, l2)
			}
			shut(t, l)
			require.NoError(t, l.Resize(most/each)) // nothing can run on it
			if l2, err = lane.NewThreads(lane.Config{Name: "disk", Workers: most / 2}); err != nil {
				t.Errorf("a lane that was shut down holds threads: %v", err)
			} else {
				shut(t, l2)
			}
		})
	}
}

// A lane that was made smaller goes on running what runs. These calls have threads, and
// nobody else may have them.
func TestCallsInSlotsThatWereTakenAwayKeepTheirThreads(t *testing.T) {
	most := room(t)
	slots := most / 4 * 3
	// Nothing blocks here: goroutines stand for threads.
	bubble(t, func(t testing.TB) lane.Lane { return threads(t, lane.Config{Workers: slots, Queue: lane.NoQueue}) }, func(t *testing.T, w *crew) {
		l := w.lane.(*lane.Threads)
		for range slots {
			w.send(t.Context(), lane.Call{})
		}
		synctest.Wait()
		fits := func(want bool) {
			t.Helper()
			l, err := lane.NewThreads(lane.Config{Workers: most / 2})
			if err == nil {
				shut(t, l)
			}
			if got := err == nil; got != want {
				t.Errorf("another lane was made: %v, want %v (%v)", got, want, err)
			}
		}
		require.NoError(t, l.Resize(1))
		fits(false)
		for _, p := range w.all[:slots*9/10] {
			p.dismiss()
		}
		synctest.Wait()
		fits(false) // as documented: until the next Resize
		require.NoError(t, l.Resize(2))
		fits(true)
	})
}

// Lanes come, grow, shrink and go at once; in the end nothing is held.
func TestThreadsAreClaimedAndGivenBackByManyLanesAtOnce(t *testing.T) {
	most := room(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range count(50, 1000) {
				l, err := lane.NewThreads(lane.Config{Workers: 1 + most/6*(i%3)})
				if err != nil {
					continue
				}
				var resizing sync.WaitGroup
				for n := range 3 {
					resizing.Go(func() { _ = l.Resize(1 + most/3*n) })
				}
				if i%2 == 0 {
					resizing.Wait()
				}
				shut(t, l)
				resizing.Wait()
			}
		})
	}
	wg.Wait()
	l, err := lane.NewThreads(lane.Config{Workers: most * 9 / 10})
	if err != nil {
		t.Errorf("after all have gone: %v", err)
		return
	}
	shut(t, l)
}
