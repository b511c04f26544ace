package shape

import (
	"context"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// A caller makes n calls one after another. If lat is not nil it has room for n,
// and the caller writes how long each call took. The loops are written out, one for
// each sort of call, because a step in a function value would cost as much as a
// tenth of the cheapest call here. A clock is read once for each call: the end of
// one is the beginning of the next.
type caller func(n int, lat []int64) error

// stamps is where a caller writes its times.
type stamps struct {
	clock
	lat  []int64
	last int64
}

func (r *run) stamps(lat []int64) stamps {
	s := stamps{clock: r.m.clock, lat: lat}
	if lat != nil {
		s.last = s.now()
	}
	return s
}

func (s *stamps) mark(i int) {
	t := s.now()
	s.lat[i] = t - s.last
	s.last = t
}

// plain makes calls of fn, which returns an error if it fails.
func (r *run) plain(ctx context.Context, fn peer.Func, fails bool) caller {
	p := r.p
	return func(n int, lat []int64) error {
		s := r.stamps(lat)
		for i := range n {
			if _, err := p.Call(ctx, fn); (err != nil) != fails {
				return unexpected(err)
			}
			if lat != nil {
				s.mark(i)
			}
		}
		return nil
	}
}

// batches makes calls of fn, so many for each hand-over. The time of one is the time of
// its batch.
func (r *run) batches(ctx context.Context, fn peer.Func, size int) caller {
	fns := make([]peer.Func, size)
	for i := range fns {
		fns[i] = fn
	}
	all := func(fns []peer.Func) error {
		_, err := r.p.Call(ctx, func(ctx context.Context) (int, error) {
			for _, fn := range fns {
				if _, err := fn(ctx); err != nil {
					return 0, err
				}
			}
			return 0, nil
		})
		return err
	}
	if b, ok := r.p.(peer.Batcher); ok {
		all = func(fns []peer.Func) error { return b.CallBatch(ctx, fns) }
	}
	return func(n int, lat []int64) error {
		s := r.stamps(lat)
		for i := 0; i < n; i += size {
			now := min(size, n-i)
			if err := all(fns[:now]); err != nil {
				return unexpected(err)
			}
			if lat != nil {
				s.mark(i)
				for k := 1; k < now; k++ {
					lat[i+k] = lat[i]
				}
			}
		}
		return nil
	}
}

// capturing makes calls of fn in closures of their own, with arguments that count
// up by step and wrap at limit.
func (r *run) capturing(ctx context.Context, fn peer.ArgFunc, step, limit int) caller {
	p, arg := r.p, 0
	return func(n int, lat []int64) error {
		s := r.stamps(lat)
		for i := range n {
			if _, err := p.CallArg(ctx, fn, arg); err != nil {
				return unexpected(err)
			}
			if arg += step; arg >= limit {
				arg = 0
			}
			if lat != nil {
				s.mark(i)
			}
		}
		return nil
	}
}

// transacting makes transactions on all resources in turn, beginning with first.
func (r *run) transacting(ctx context.Context, fn peer.TxFunc, first int) caller {
	p, resources := r.p.(peer.Transactor), r.shape.Resources //nolint:errcheck // the shape needs peer.Transacts
	resource := first % resources
	return func(n int, lat []int64) error {
		s := r.stamps(lat)
		for i := range n {
			if _, err := p.Transact(ctx, resource, fn); err != nil {
				return unexpected(err)
			}
			if resource++; resource == resources {
				resource = 0
			}
			if lat != nil {
				s.mark(i)
			}
		}
		return nil
	}
}

// refused makes calls that are refused.
func (r *run) refused(ctx context.Context, fn peer.Func) caller {
	p := r.p.(peer.Trier) //nolint:errcheck // the shape needs peer.Tries
	return func(n int, lat []int64) error {
		s := r.stamps(lat)
		for i := range n {
			if _, err := p.TryCall(ctx, fn); err == nil {
				return unexpected(err)
			}
			if lat != nil {
				s.mark(i)
			}
		}
		return nil
	}
}

// stepping does something whose cost is far above that of a function value.
func (r *run) stepping(step func() error) caller {
	return func(n int, lat []int64) error {
		s := r.stamps(lat)
		for i := range n {
			if err := step(); err != nil {
				return err
			}
			if lat != nil {
				s.mark(i)
			}
		}
		return nil
	}
}
