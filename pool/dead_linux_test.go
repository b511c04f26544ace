package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// A reading of a pipe that nobody writes to never returns, and holds a thread. In a
// process that may have 40 threads and no more (the runtime ends it otherwise), one such
// resource among 50 healthy ones costs one thread, however often it is asked for; every
// refusal is typed; the others are served as if it were not there; and it works again
// when the pipe has an end.
func TestOneDeadResourceAmongFifty(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=dead")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// pipeEnd is a resource: what a healthy one reads is there, what the dead one reads is not.
type pipeEnd struct {
	fd   int
	dead bool
}

func (e pipeEnd) read() error {
	if !e.dead {
		nap(200 * time.Microsecond)
		return nil
	}
	for {
		if _, err := syscall.Read(e.fd, make([]byte, 1)); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func deadChild() {
	const healthy, callers, calls = 50, 40, 10_000
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 8, Queue: 1000}, Grace: lane.NoGrace})
	if err != nil {
		fatal(err)
	}
	debug.SetMaxThreads(40) // after the lane, which might need so many alone
	p, err := pool.New(pool.Config[pipeEnd]{Lane: l, OwnsLane: true})
	if err != nil {
		fatal(err)
	}
	var ids []handle.ID
	for range healthy {
		id, err := p.Adopt(pipeEnd{})
		if err != nil {
			fatal(err)
		}
		ids = append(ids, id)
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		fatal(err)
	}
	dead, err := p.Adopt(pipeEnd{fd: pipe[0], dead: true})
	if err != nil {
		fatal(err)
	}
	ask := func(id handle.ID, within time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		_, err := pool.OffloadOn(ctx, p, id, func(_ context.Context, e pipeEnd) (struct{}, error) { return struct{}{}, e.read() })
		return err
	}
	// round makes all calls, one in ten of them on the dead resource if there is one.
	round := func(withDead bool) (p99 time.Duration, refused int) {
		var mu sync.Mutex
		var times []time.Duration
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for i := range calls / callers {
					if withDead && i%10 == 0 {
						err := ask(dead, 20*time.Millisecond)
						_, left := errors.AsType[*ioerr.LeftError](err)
						if !left && !errors.Is(err, ioerr.ErrHandleBusy) && !errors.Is(err, context.DeadlineExceeded) {
							fatal("the dead one:", err)
						}
						mu.Lock()
						refused++
						mu.Unlock()
						continue
					}
					began := time.Now()
					if err := ask(ids[rand.IntN(healthy)], time.Minute); err != nil {
						fatal("a healthy one:", err)
					}
					took := time.Since(began)
					mu.Lock()
					times = append(times, took)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(times)
		return times[len(times)*99/100], refused
	}
	// That the healthy ones are as quick beside a dead one can be told from a machine that
	// is busy with something else by doing it again.
	var with, without time.Duration
	var refused int
	for try := 0; ; try++ {
		without, _ = round(false)
		with, refused = round(true)
		if with <= without*3/2 {
			break
		}
		fmt.Printf("p99 %v without, %v with the dead one\n", without, with)
		if try == 4 {
			fatal("the healthy ones are slower, each time")
		}
	}
	s := p.Stats()
	if len(s.Lane.Left) != 1 || s.Lane.LeftTotal != 1 || s.Lane.Running != 0 {
		fatal(fmt.Sprintf("%+v", s))
	}
	stuck, ok := errors.AsType[*ioerr.StuckError](ask(dead, 20*time.Millisecond))
	if !ok || stuck.Age <= 0 {
		fatal("not refused: ", stuck)
	}
	if err := syscall.Close(pipe[1]); err != nil { // the pipe has an end
		fatal(err)
	}
	for range 1000 {
		if err = ask(dead, 20*time.Millisecond); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		fatal("it does not work again:", err)
	}
	if err := p.Close(); err != nil {
		fatal(err)
	}
	fmt.Printf("p99 %v without, %v with the dead one, which was refused %d times\n", without, with, refused)
}
