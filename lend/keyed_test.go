package lend_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

// named is a resource of one key.
type named struct{ key string }

func byKey(t *testing.T, config lend.Config[named]) (*lend.Keyed[string, named], *pool.Pool[named]) {
	t.Helper()
	p, err := pool.New(pool.Config[named]{Dispose: func(named) error { return nil }})
	require.NoError(t, err)
	k, err := lend.ByKey(p, func(_ context.Context, key string) (named, error) { return named{key}, nil }, config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()); require.NoError(t, p.Close()) })
	return k, p
}

// Law: each key has a capacity of its own, and resources of its own.
func TestEachKeyHasItsOwn(t *testing.T) {
	k, _ := byKey(t, lend.Config[named]{Capacity: 1})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			key := fmt.Sprint(i % 5)
			l, err := k.For(key)
			require.NoError(t, err)
			got, err := lend.Transact(t.Context(), l, func(_ context.Context, r named) (string, error) { return r.key, nil })
			require.NoError(t, err)
			require.Equal(t, key, got)
			require.LessOrEqual(t, l.Stats().Open, 1)
		})
	}
	all.Wait()
	n := 0
	for key, l := range k.All() {
		n++
		same, err := k.For(key)
		require.NoError(t, err)
		require.Same(t, l, same)
		require.EqualValues(t, 1, l.Stats().OpenedTotal)
	}
	require.Equal(t, 5, n)
	one, err := k.For("0")
	require.NoError(t, err)
	b, err := one.Borrow(t.Context())
	require.NoError(t, err)
	refused(t, one.With(t.Context(), func(context.Context, named) error { return nil }, pool.FailFast), ioerr.ErrExhausted, ioerr.Failed)
	other, err := k.For("1")
	require.NoError(t, err)
	require.NoError(t, other.With(t.Context(), func(context.Context, named) error { return nil }, pool.FailFast))
	require.NoError(t, b.Return())
}

// Law: a key that has nothing and that nobody holds is forgotten; one that has something is
// not.
func TestKeysComeAndGo(t *testing.T) {
	k, _ := byKey(t, lend.Config[named]{Capacity: 1, IdleTime: time.Millisecond})
	for i := range 100 {
		l, err := k.For(fmt.Sprint(i))
		require.NoError(t, err)
		require.NoError(t, l.With(t.Context(), func(context.Context, named) error { return nil }))
	}
	held, err := k.For("held")
	require.NoError(t, err)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		n := 0
		for range k.All() {
			n++
		}
		if n == 1 && lend.Entries(k) == 1 {
			break
		}
		require.True(t, time.Now().Before(deadline), "%d keys, %d entries", n, lend.Entries(k))
	}
	same, err := k.For("held")
	require.NoError(t, err)
	require.Same(t, held, same)
}

// Law: who holds a lender and who asks for it later have the same, also while it has nothing.
func TestThereIsOneLenderForAKey(t *testing.T) {
	k, _ := byKey(t, lend.Config[named]{Capacity: 1, Lifetime: time.Microsecond})
	var all sync.WaitGroup
	var users sync.Mutex
	for range 4 {
		all.Go(func() {
			for range 300 {
				l, err := k.For("a")
				require.NoError(t, err)
				require.NoError(t, l.With(t.Context(), func(context.Context, named) error {
					require.True(t, users.TryLock())
					users.Unlock()
					return nil
				}))
			}
		})
	}
	all.Go(func() {
		for range 20 {
			runtime.GC()
		}
	})
	all.Wait()
}

// Law: the end of all keys is that of each, and of the pool that of all.
func TestTheEndOfAllKeys(t *testing.T) {
	k, p := byKey(t, lend.Config[named]{Capacity: 1})
	l, err := k.For("a")
	require.NoError(t, err)
	require.NoError(t, l.With(t.Context(), func(context.Context, named) error { return nil }))
	require.NoError(t, k.Close())
	_, err = k.For("b")
	refused(t, err, ioerr.ErrShutdown, ioerr.ShutdownInProgress)
	refused(t, l.With(t.Context(), func(context.Context, named) error { return nil }), ioerr.ErrShutdown, ioerr.ShutdownInProgress)
	require.Zero(t, l.Stats().Open)
	require.NoError(t, p.Close())
	k, p = byKey(t, lend.Config[named]{Capacity: 1})
	l, err = k.For("a")
	require.NoError(t, err)
	require.NoError(t, p.Close())
	refused(t, l.With(t.Context(), func(context.Context, named) error { return nil }), ioerr.ErrShutdown, ioerr.ShutdownInProgress)
}

// Law: what cannot be is refused by name.
func TestWhatKeysCannotBe(t *testing.T) {
	p, err := pool.New(pool.Config[named]{})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	open := func(context.Context, string) (named, error) { return named{}, nil }
	good := lend.Config[named]{Capacity: 1}
	_, err = lend.ByKey[string](p, nil, good)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = lend.ByKey(p, open, lend.Config[named]{Capacity: 1, MinIdle: 1})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = lend.ByKey(p, open, lend.Config[named]{})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = lend.ByKey(p, open, lend.Config[named]{Capacity: 1, Open: func(context.Context) (named, error) { return named{}, nil }})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = lend.ByKey(nil, open, good)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	for _, k := range []*lend.Keyed[string, named]{nil, {}} {
		_, err = k.For("a")
		require.ErrorIs(t, err, ioerr.ErrInvalid)
		require.ErrorIs(t, k.Close(), ioerr.ErrInvalid)
		for range k.All() {
			t.Error("has one")
		}
	}
}
