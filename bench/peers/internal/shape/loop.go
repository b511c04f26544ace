package shape

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errWrong = errors.New("a call did not end as it should")
	errNone  = errors.New("it returned no error")
)

func unexpected(err error) error {
	if err == nil {
		err = errNone
	}
	return fmt.Errorf("%w: %w", errWrong, err)
}

// mostStamps bounds the memory for percentiles.
const mostStamps = 1 << 20

// loop measures closed loops: each caller makes its next call when the last one
// has returned. It first finds out how many calls fill the budget, which warms
// everything up; then it times them; then, unless the shape is stamped, it makes
// others with the clock read at each one, for the percentiles.
func (r *run) loop(callers ...caller) error {
	if r.env.Tiny {
		r.m.reset()
		n := 2 * len(callers)
		r.m.lat = make([]int64, n)
		r.m.start()
		defer r.m.stop(n)
		return closed(callers, n, 1, r.m.lat)
	}
	perCall, err := r.calibrate(callers)
	if err != nil {
		return err
	}
	r.m.reset()
	for first := true; first || r.m.sum.wall < r.env.Budget*3/4; first = false {
		n := r.fill(perCall, r.m.sum.wall, len(callers))
		var lat []int64
		if r.shape.Stamped {
			lat = make([]int64, n)
		}
		r.m.start()
		err := closed(callers, n, chunkOf(perCall, n, len(callers)), lat)
		r.m.stop(n)
		if err != nil {
			return err
		}
		r.m.lat = append(r.m.lat, lat...)
		perCall = float64(r.m.sum.wall) / float64(r.m.calls)
	}
	if r.shape.Stamped {
		return nil
	}
	n := min(r.fill(perCall, 0, len(callers)), mostStamps)
	r.m.lat = make([]int64, n)
	return closed(callers, n, chunkOf(perCall, n, len(callers)), r.m.lat)
}

// fill is how many calls fill what is left of the budget, at least one for each
// caller.
func (r *run) fill(perCall float64, spent time.Duration, callers int) int {
	return max(int(float64(r.env.Budget-spent)/perCall), callers)
}

// calibrate returns how long a call takes, in nanoseconds. A moment in which the
// machine did something else makes the answer too large; loop sees to that.
func (r *run) calibrate(callers []caller) (float64, error) {
	r.m.reset()
	want := float64(r.env.Budget) / 8
	for n := len(callers); ; {
		began := time.Now()
		if err := closed(callers, n, chunkOf(1, n, len(callers)), nil); err != nil {
			return 0, err
		}
		took := float64(time.Since(began))
		if took >= want {
			return took / float64(n), nil
		}
		n = int(float64(n) * min(max(1.2*want/took, 2), 100))
	}
}

// chunkOf is how many calls a caller takes at a time: so many that taking them
// costs nothing, and so few that all callers are there until the end.
func chunkOf(perCall float64, n, callers int) int {
	if callers == 1 {
		return n
	}
	const most, worth = 64, 50_000 // ns
	return max(1, min(most, int(worth/perCall), n/(8*callers)))
}

// closed makes n calls from all callers together, who take them chunk by chunk
// until there are none. A fixed number for each would leave the slow ones alone at
// the end, and measure an emptier shape than was asked for.
func closed(callers []caller, n, chunk int, lat []int64) error {
	if len(callers) == 1 {
		return callers[0](n, lat)
	}
	var next atomic.Int64
	errs := make([]error, len(callers))
	var wg sync.WaitGroup
	for i, call := range callers {
		wg.Go(func() {
			for {
				last := int(next.Add(int64(chunk)))
				first := last - chunk
				if first >= n {
					return
				}
				last = min(last, n)
				var part []int64
				if lat != nil {
					part = lat[first:last]
				}
				if errs[i] = call(last-first, part); errs[i] != nil {
					next.Store(int64(n)) // the others need not go on
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// same is a loop of so many callers that all do the same.
func (r *run) same(n int, each func(i int) caller) error {
	callers := make([]caller, n)
	for i := range callers {
		callers[i] = each(i)
	}
	return r.loop(callers...)
}
