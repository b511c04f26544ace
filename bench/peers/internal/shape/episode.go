package shape

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/quiet"
)

// overtime is how many budgets a shape may take in all whose measured stretches
// are only a part of it.
const overtime = 4

// episodes repeats something that is measured in part, until the measured parts
// fill the budget. The first one is to warm up.
func (r *run) episodes(each func() error) error {
	r.m.reset()
	once := r.env.Tiny || r.shape.Once
	if !once {
		if err := each(); err != nil {
			return err
		}
		r.m.reset()
	}
	began := time.Now()
	for {
		if err := each(); err != nil {
			return err
		}
		if once || r.m.sum.wall >= r.env.Budget || time.Since(began) >= overtime*r.env.Budget {
			return nil
		}
	}
}

// burst measures n calls that all come at once, each on a goroutine of its own,
// which is part of the cost: that is how unbounded programs do it. The time of a
// call counts from the moment when they all came.
func (r *run) burst(n int, fn peer.Func) error {
	return r.episodes(func() error {
		lat := make([]int64, n)
		errs := make([]error, n)
		var wg sync.WaitGroup
		r.m.start()
		began := r.m.clock.now()
		for i := range n {
			wg.Go(func() {
				_, errs[i] = r.p.Call(context.Background(), fn)
				lat[i] = r.m.clock.now() - began
			})
		}
		wg.Wait()
		r.m.stop(n)
		r.m.lat = append(r.m.lat, lat...)
		return errors.Join(errs...)
	})
}

// hold takes every slot. When it returns they are taken; release gives them back
// and waits for the holders.
func hold(p peer.Peer, slots int) (release func() error) {
	gate := make(chan struct{})
	errs := make([]error, slots)
	var in, out sync.WaitGroup
	in.Add(slots)
	for i := range slots {
		out.Go(func() {
			entered := false
			_, errs[i] = p.Call(context.Background(), func(context.Context) (int, error) {
				entered = true
				in.Done()
				<-gate
				return 0, nil
			})
			if !entered {
				in.Done()
			}
		})
	}
	in.Wait()
	return func() error {
		close(gate)
		out.Wait()
		return errors.Join(errs...)
	}
}

// waiting is a number of callers who wait for a slot.
type waiting struct {
	wg    sync.WaitGroup
	lat   []int64
	errs  []error
	began int64
}

// queue brings n callers to a peer whose slots are held, and returns when all of
// them wait.
func (r *run) queue(ctx context.Context, p peer.Peer, n int) (*waiting, error) {
	w := &waiting{lat: make([]int64, n), errs: make([]error, n)}
	for i := range n {
		w.wg.Go(func() {
			_, w.errs[i] = p.Call(ctx, nothing)
			w.lat[i] = r.m.clock.now()
		})
	}
	return w, quiet.Wait()
}

// start begins to measure how the callers get away.
func (w *waiting) start(m *meter) {
	m.start()
	w.began = m.clock.now()
}

// stop waits until they are all gone, and writes down how long it took them.
func (w *waiting) stop(m *meter) {
	w.wg.Wait()
	m.stop(len(w.lat))
	for _, t := range w.lat {
		m.lat = append(m.lat, t-w.began)
	}
}

// failed is how many callers got an error.
func (w *waiting) failed() (n int) {
	for _, err := range w.errs {
		if err != nil {
			n++
		}
	}
	return n
}

// background makes calls of fn from n callers until stop is called.
func (r *run) background(n int, fn peer.Func) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				_, errs[i] = r.p.Call(context.Background(), fn)
			}
		})
	}
	return func() error {
		cancel()
		wg.Wait()
		return errors.Join(errs...)
	}
}

// nothing is the empty call.
func nothing(context.Context) (int, error) { return 0, nil }
