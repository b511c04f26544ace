package lane_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Alone, a lane is a semaphore with a bounded queue.
func ExampleNewThreads() {
	l, err := lane.NewThreads(lane.Config{Name: "disk", Workers: 4, Queue: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	stat := func(ctx context.Context, path string) (os.FileInfo, error) {
		slot, err := l.Enter(ctx, lane.Call{})
		if err != nil {
			return nil, err
		}
		defer l.Leave(slot)
		return os.Stat(path)
	}

	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := stat(context.Background(), "."); err != nil {
				fmt.Println(err)
			}
		})
	}
	wg.Wait()

	if err := l.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	_, err = stat(context.Background(), ".")
	fmt.Println(l.Stats().Completed, "calls;", err)
	// Output: 50 calls; shutting down
}

// A lane that turns out to be too narrow is widened while it is in use.
func ExampleThreads_Resize() {
	l, _ := lane.NewThreads(lane.Config{Workers: 1, Policy: lane.FailFast, Queue: lane.NoQueue})
	enter := func() error {
		_, err := l.Enter(context.Background(), lane.Call{})
		return err
	}
	fmt.Println(enter(), enter())
	if err := l.Resize(2); err != nil {
		fmt.Println(err)
	}
	fmt.Println(enter(), enter())

	err := l.Resize(0)
	if e, ok := errors.AsType[*ioerr.ArgumentError](err); ok {
		fmt.Println(e.Name, e.Reason)
	}
	// Output:
	// <nil> queue is full
	// <nil> queue is full
	// n must be more than Reserved and at most 65535
}

// Each tenant keeps to a shard, by its handle. One that fills its shard with calls
// that hang is refused; the others do not notice.
func ExampleNewSharded() {
	l, err := lane.NewSharded(lane.ShardedConfig{
		Shards:   4,
		Isolated: true,
		Config:   lane.Config{Workers: 2, Queue: lane.NoQueue, Policy: lane.FailFast},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	const good, bad = 1, 2
	for range 3 {
		_, err = l.Enter(context.Background(), lane.Call{Handle: bad})
	}
	fmt.Println("bad: ", err)
	slot, err := l.Enter(context.Background(), lane.Call{Handle: good})
	fmt.Println("good:", err)
	if err == nil {
		l.Leave(slot)
	}
	// Output:
	// bad:  queue is full
	// good: <nil>
}

// Threads of one's own are for what is bound to a thread. A task is told its thread, and
// says when that is unfit for others. Most programs leave the tasks to pool.Offload.
func ExampleNewPinned() {
	l, err := lane.NewPinned(lane.PinnedConfig{
		Config: lane.Config{Name: "gl", Workers: 1},
		Start:  func(i int) error { fmt.Println("context made on thread", i); return nil },
		Stop:   func(i int) { fmt.Println("context freed on thread", i) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for _, lost := range []bool{true, false} {
		draw := func(ctx context.Context) {
			thread, _ := lane.ThreadOf(ctx)
			fmt.Println("draws on thread", thread.Index())
			if lost {
				thread.Taint()
			}
		}
		if err := l.Carry(ctx, lane.Call{}, onThread{ctx, draw}); err != nil {
			fmt.Println(err)
		}
	}
	if err := l.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(l.Stats().Threads.Retired, "thread replaced")
	// Output:
	// context made on thread 0
	// draws on thread 0
	// context freed on thread 0
	// context made on thread 0
	// draws on thread 0
	// context freed on thread 0
	// 1 thread replaced
}

// onThread is a function as a task.
type onThread struct {
	ctx context.Context
	f   func(context.Context)
}

func (o onThread) Run(on lane.Thread) { o.f(lane.WithThread(o.ctx, on)) }
func (o onThread) Ending(error)       {}
func (o onThread) Left(time.Duration) {}
func (o onThread) End(_ bool, err error) {
	if err != nil {
		fmt.Println("the thread was replaced:", err)
	}
}

// One lane for two disks and for what must not wait behind them: a slot is kept
// for urgent calls, and each disk gets the depth that it likes.
func ExampleConfig() {
	l, err := lane.NewThreads(lane.Config{
		Workers:  10,
		Reserved: 1, // for urgent calls alone
		PerKey:   8, // a solid state disk
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := l.SetKeyLimit("spinning disk", 1); err != nil {
		fmt.Println(err)
	}

	ctx := context.Background()
	try := func(c lane.Call) {
		c.Policy, c.NoWait = lane.FailFast, true
		_, err := l.Enter(ctx, c)
		fmt.Println(err == nil)
	}
	try(lane.Call{Key: "spinning disk"})
	try(lane.Call{Key: "spinning disk"}) // would have to wait for the first
	for range 8 {
		_, _ = l.Enter(ctx, lane.Call{Key: "solid state disk"})
	}
	try(lane.Call{}) // nine run, and the tenth slot is not for everybody
	try(lane.Call{Urgent: true, Label: "refresh the lock"})
	// Output:
	// true
	// false
	// false
	// true
}
