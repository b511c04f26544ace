package lend_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

var errIO = errors.New("I/O error")

// thing is what is lent.
type thing struct {
	shop   *shop
	number int64
	users  atomic.Int32
	closed atomic.Bool
}

// use is a call; only one at a time may be inside.
func (r *thing) use(context.Context) {
	if r.users.Add(1) != 1 {
		r.shop.t.Error("used by two")
	}
	if r.closed.Load() {
		r.shop.t.Error("used after it was closed")
	}
	r.users.Add(-1)
}

// shop makes things, and knows how many there are.
type shop struct {
	t                           testing.TB
	opened, closed, exist, most atomic.Int64
	before                      func(context.Context) error // opening; or nil
	leaves                      func()                      // while one is closed; or nil
}

func (s *shop) open(ctx context.Context) (*thing, error) {
	n := s.exist.Add(1) // with those that are being opened
	for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
	}
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			s.exist.Add(-1)
			return nil, err
		}
	}
	return &thing{shop: s, number: s.opened.Add(1)}, nil
}

func (s *shop) close(r *thing) error {
	if s.leaves != nil {
		s.leaves()
	}
	if r.closed.Swap(true) {
		s.t.Error("closed twice")
	}
	s.closed.Add(1)
	s.exist.Add(-1)
	return nil
}

// newLender makes a lender of a shop's things, on a pool of its own, both of which are closed
// at the end of the test.
func newLender(t testing.TB, s *shop, config lend.Config[*thing]) *lend.Lender[*thing] {
	t.Helper()
	l, _ := on(t, s, config, pool.Config[*thing]{Threads: lane.Config{Workers: 16}})
	return l
}

func on(t testing.TB, s *shop, config lend.Config[*thing], c pool.Config[*thing]) (*lend.Lender[*thing], *pool.Pool[*thing]) {
	t.Helper()
	s.t, c.Dispose = t, s.close
	p, err := pool.New(c)
	require.NoError(t, err)
	if config.Open == nil {
		config.Open = s.open
	}
	l, err := lend.New(p, config)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		require.NoError(t, p.Close())
		require.Equal(t, s.opened.Load(), s.closed.Load(), "what was opened is closed")
		st := l.Stats()
		require.Zero(t, st.Open+st.Idle+st.Lent+st.Opening+st.Closing+st.Waiting, "%+v", st)
		require.Equal(t, st.OpenedTotal, st.Closed.Idle+st.Closed.Lifetime+st.Closed.Check+st.Closed.Broken+st.Closed.Surplus, "%+v", st)
	})
	return l, p
}

// number is which thing is lent now.
func number(t testing.TB, l *lend.Lender[*thing]) int64 {
	t.Helper()
	n, err := lend.Transact(t.Context(), l, func(ctx context.Context, r *thing) (int64, error) {
		r.use(ctx)
		return r.number, nil
	})
	require.NoError(t, err)
	return n
}

// borrow lends one for several calls.
func borrow(t testing.TB, l *lend.Lender[*thing]) lend.Loan[*thing] {
	t.Helper()
	b, err := l.Borrow(t.Context())
	require.NoError(t, err)
	return b
}

// refused checks that a call did not run, and why.
func refused(t testing.TB, err, why error, outcome ioerr.Outcome) {
	t.Helper()
	require.ErrorIs(t, err, why)
	e, ok := errors.AsType[*ioerr.Error](err)
	require.True(t, ok)
	require.Equal(t, ioerr.None, e.Effect)
	require.Equal(t, outcome, e.Outcome)
}

func nothing(context.Context, *thing) error { return nil }
