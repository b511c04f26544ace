package lend_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

// host is a key that calls upon what it is a key of, when its text is asked for.
type host struct{ name string }

var asked func()

func (h host) String() string {
	asked()
	return h.name
}

// Law: an error of a lender says which one it is of, also by key; and what a key does when its
// text is asked for hurts nobody.
func TestAnErrorNamesItsLender(t *testing.T) {
	var s shop
	p, err := pool.New(pool.Config[*thing]{Dispose: s.close})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	broken := false
	config := lend.Config[*thing]{Name: "db", Capacity: 1, Policy: lane.FailFast}
	open := func(ctx context.Context, _ host) (*thing, error) {
		if broken {
			return nil, errIO
		}
		return s.open(ctx)
	}
	k, err := lend.ByKey(p, open, config)
	require.NoError(t, err)
	asked = func() {
		_, err := k.For(host{"other"})
		require.NoError(t, err)
	}
	keyed, err := k.For(host{"example.org:5432"})
	require.NoError(t, err)
	config.Open = s.open
	alone, err := lend.New(p, config)
	require.NoError(t, err)
	for name, l := range map[string]*lend.Lender[*thing]{"db": alone, "db example.org:5432": keyed} {
		named := func(err error) {
			e, _ := errors.AsType[*ioerr.Error](err)
			require.Equal(t, name, e.Lender)
			require.Contains(t, err.Error(), "lender "+name)
		}
		b := borrow(t, l)
		err = l.With(t.Context(), nothing)
		require.EqualError(t, err, "lender "+name+": all resources are lent")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		named(l.With(ended, nothing))
		require.NoError(t, b.Discard())
		named(b.Return())
		named(b.With(t.Context(), nothing))
		if broken = true; l == keyed {
			require.Eventually(t, func() bool { return l.Stats().Open == 0 }, 10*time.Second, time.Millisecond)
			err = l.With(t.Context(), nothing)
			require.EqualError(t, err, "lender "+name+": opening a resource: I/O error")
		}
		broken = false
		require.NoError(t, l.Close())
		named(l.With(t.Context(), nothing))
	}
	require.NoError(t, k.Close())
}

// Law: what took longer than Config.OpenWithin is told by that, however Open says it.
func TestAnOpeningThatTookTooLongSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		s.before = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1, OpenWithin: time.Minute})
		err := l.With(t.Context(), nothing)
		why, ok := errors.AsType[*lend.OpenError](err)
		require.True(t, ok)
		require.Equal(t, time.Minute, why.Within)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, why, "opening a resource within 1m0s: context deadline exceeded")

		s.before = func(context.Context) error { return errIO }
		why, ok = errors.AsType[*lend.OpenError](l.With(t.Context(), nothing))
		require.True(t, ok)
		require.Zero(t, why.Within)
	})
}

// Law: a shutdown that gives up says what it has waited for.
func TestAShutdownThatGivesUpSaysWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 3})
		loans := []lend.Loan[*thing]{borrow(t, l), borrow(t, l)}
		gate := make(chan struct{})
		s.before = func(context.Context) error { <-gate; return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.With(ctx, nothing), context.DeadlineExceeded) // and what is opened is left
		err := l.Shutdown(ctx)
		left, ok := errors.AsType[*lend.PendingError](err)
		require.True(t, ok)
		require.Equal(t, lend.PendingError{Lent: 2, Opening: 1, Err: context.DeadlineExceeded}, *left)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, left, "resources: 2 lent, 1 being opened, 0 being closed: context deadline exceeded")
		close(gate)
		for _, b := range loans {
			require.NoError(t, b.Return())
		}
		require.NoError(t, l.Close())
	})
}
