package lend_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

// Law: durations may be as long as there are, or as short.
func TestDurationsMayBeAsLongAsThereAre(t *testing.T) {
	for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, 1} {
		synctest.Test(t, func(t *testing.T) {
			var s shop
			ahead := 1
			if d == 1 { // it would open one each nanosecond, as it is told
				ahead = 0
			}
			l := newLender(t, &s, lend.Config[*thing]{Capacity: 2, MinIdle: ahead, IdleTime: d, Lifetime: d, OpenWithin: math.MaxInt64,
				CheckAfter: d, Check: func(context.Context, *thing) error { return nil }})
			for range 3 {
				number(t, l)
				time.Sleep(time.Hour)
			}
			if d > 1 {
				require.Zero(t, l.Stats().Closed)
			}
		})
	}
}

// Law: quantiles are those of what was counted.
func TestQuantiles(t *testing.T) {
	var h lend.Histogram
	require.Zero(t, h.Quantile(0.5))
	h[0], h[10], h[63] = 1, 98, 1
	for q, want := range map[float64]time.Duration{-1: 0, 0: 0, 0.01: 0, 0.02: 1023, 0.5: 1023, 0.99: 1023, 0.995: math.MaxInt64, 1: math.MaxInt64, 2: math.MaxInt64} {
		require.Equal(t, want, h.Quantile(q), "%v", q)
	}
	require.Zero(t, h.Quantile(math.NaN()))
	require.EqualValues(t, 100, h.Count())
}

// Law: a key that is not equal to itself is refused.
func TestAKeyThatIsNotItselfIsRefused(t *testing.T) {
	p, err := pool.New(pool.Config[int]{})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	k, err := lend.ByKey(p, func(context.Context, float64) (int, error) { return 1, nil }, lend.Config[int]{Capacity: 1})
	require.NoError(t, err)
	_, err = k.For(math.NaN())
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	require.Zero(t, lend.Entries(k))
	require.NoError(t, k.Close())
}

// Law: everything works on every lane and with every kind of pool.
func TestEveryLane(t *testing.T) {
	threads, err := lane.NewThreads(lane.Config{Workers: 4})
	require.NoError(t, err)
	defer func() { require.NoError(t, threads.Shutdown(context.Background())) }()
	for name, c := range map[string]pool.Config[*thing]{
		"of its own": {},
		"shared":     {Lane: threads},
		"inline":     {Lane: lane.NewInline(""), OwnsLane: true},
		"unguarded":  {Unguarded: true},
		"shares":     {Share: 3},
		"a user's":   {Lane: struct{ lane.Lane }{threads}},
	} {
		t.Run(name, func(t *testing.T) {
			var s shop
			l, _ := on(t, &s, lend.Config[*thing]{Capacity: 2, Check: func(_ context.Context, r *thing) error {
				if r.number == 1 {
					return errIO
				}
				return nil
			}}, c)
			require.EqualValues(t, 1, number(t, l))
			require.EqualValues(t, 2, number(t, l))
			b := borrow(t, l)
			require.NoError(t, b.With(t.Context(), nothing))
			require.EqualValues(t, 3, number(t, l))
			require.NoError(t, b.Return())
			require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { panic(errIO) }), errIO)
			require.EqualValues(t, 3, number(t, l))
		})
	}
}
