package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// wrong checks the error for an argument: what it is called, and what it was.
func wrong(t *testing.T, err error, name string, value any) {
	t.Helper()
	w := want{ioerr.Failed, ioerr.Executor, ioerr.None, ioerr.ErrInvalid, noID, "", ""}
	w.check(t, err)
	a, ok := errors.AsType[*ioerr.ArgumentError](err)
	if !ok {
		t.Errorf("%v holds no ArgumentError", err)
		return
	}
	if a.Name != name || fmt.Sprint(a.Value) != fmt.Sprint(value) || a.Reason == "" || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %q = %v (%s), want %q = %v", a.Name, a.Value, a.Reason, name, value)
	}
}

// byValue is a lane that is comparable by its type, but not by what it holds.
type byValue struct {
	lane.Lane
	hidden any
}

// uncomparable is a lane that is not comparable at all.
type uncomparable struct {
	lane.Lane
	_ []int
}

// channel is a lane that is a channel.
type channel chan struct{}

func (channel) Enter(context.Context, lane.Call) (lane.Slot, error) { panic("entered") }
func (channel) Leave(lane.Slot)                                     {}
func (channel) Name() string                                        { return "" }
func (channel) Capabilities() lane.Capabilities                     { return lane.Capabilities{} }
func (channel) Stats() lane.Stats                                   { return lane.Stats{} }
func (channel) Shutdown(context.Context) error                      { return nil }

func TestEachWrongFieldIsNamed(t *testing.T) {
	l := lane.NewInline("")
	for _, test := range []struct {
		config pool.Config[int]
		name   string
		value  any
	}{
		{pool.Config[int]{Waiters: -2}, "pool.Config.Waiters", -2},
		{pool.Config[int]{Waiters: math.MinInt}, "pool.Config.Waiters", math.MinInt},
		{pool.Config[int]{Waiters: math.MaxInt}, "pool.Config.Waiters", math.MaxInt},
		{pool.Config[int]{Waiters: 1<<26 + 1}, "pool.Config.Waiters", 1<<26 + 1},
		{pool.Config[int]{HookWithin: -1}, "pool.Config.HookWithin", time.Duration(-1)},
		{pool.Config[int]{HookWithin: math.MinInt64}, "pool.Config.HookWithin", time.Duration(math.MinInt64)},
		{pool.Config[int]{OwnsLane: true}, "pool.Config.OwnsLane", true},
		{pool.Config[int]{Lane: (*lane.Threads)(nil)}, "pool.Config.Lane", (*lane.Threads)(nil)},
		{pool.Config[int]{Lane: (*minimal)(nil)}, "pool.Config.Lane", (*minimal)(nil)},
		{pool.Config[int]{Lane: channel(nil)}, "pool.Config.Lane", channel(nil)},
		{pool.Config[int]{Lane: uncomparable{Lane: l}}, "pool.Config.Lane", "pool_test.uncomparable"},
		{pool.Config[int]{Lane: byValue{Lane: l, hidden: []int{1}}}, "pool.Config.Lane", "pool_test.byValue"},
		{pool.Config[int]{Lane: l, Threads: lane.Config{Workers: 3}}, "pool.Config.Threads", lane.Config{Workers: 3}},
		{pool.Config[int]{Lane: l, OwnsLane: true, Threads: lane.Config{Name: "x"}}, "pool.Config.Threads", lane.Config{Name: "x"}},
		{pool.Config[int]{Threads: lane.Config{Workers: -1}}, "lane.Config.Workers", -1},
		{pool.Config[int]{Threads: lane.Config{Workers: 1 << 16}}, "lane.Config.Workers", 1 << 16},
		{pool.Config[int]{Threads: lane.Config{Queue: -2}}, "lane.Config.Queue", -2},
		{pool.Config[int]{Threads: lane.Config{Queue: math.MaxInt}}, "lane.Config.Queue", math.MaxInt},
		{pool.Config[int]{Threads: lane.Config{Waiters: -2}}, "lane.Config.Waiters", -2},
		{pool.Config[int]{Threads: lane.Config{Waiters: math.MaxInt}}, "lane.Config.Waiters", math.MaxInt},
		{pool.Config[int]{Threads: lane.Config{Policy: 77}}, "lane.Config.Policy", 77},
		{pool.Config[int]{Threads: lane.Config{Order: 77}}, "lane.Config.Order", 77},
		{pool.Config[int]{Threads: lane.Config{Workers: 2, Reserved: 2}}, "lane.Config.Reserved", 2},
		{pool.Config[int]{Threads: lane.Config{Workers: 2, Reserved: -1}}, "lane.Config.Reserved", -1},
		{pool.Config[int]{Threads: lane.Config{PerKey: -1}}, "lane.Config.PerKey", -1},
		{pool.Config[int]{Threads: lane.Config{PerKey: math.MaxInt}}, "lane.Config.PerKey", math.MaxInt},
	} {
		p, err := pool.New(test.config)
		if p != nil {
			t.Errorf("%s: a pool in spite of %v", test.name, test.value)
		}
		wrong(t, err, test.name, test.value)
	}
}

func TestEachExtremeFieldThatIsAllowedWorks(t *testing.T) {
	for _, config := range []pool.Config[int]{
		{},
		{Waiters: 1 << 26},
		{Waiters: lane.NoWaiters},
		{Patience: lane.Strict},
		{Patience: math.MinInt64},
		{Patience: math.MaxInt64},
		{HookWithin: 1},
		{HookWithin: math.MaxInt64},
		{Lane: byValue{Lane: lane.NewInline(""), hidden: 1}},
		{Unguarded: true},
		{Threads: lane.Config{Workers: 1<<16 - 1, Threadless: true, Queue: 1 << 24, Waiters: 1 << 26, Patience: math.MaxInt64}},
	} {
		config.Dispose = func(int) error { return nil }
		p := makePool(t, config)
		id, err := p.Register(bg, func(context.Context) (int, error) { return 1, nil })
		require.NoError(t, err)
		succeeds(t, p.With(bg, id, leave))
		if err := p.Close(); err != nil && config.HookWithin != 1 {
			t.Errorf("%+v: %v", config, err)
		}
	}
}

// Law: a nil context or function is told by its name, and nothing has run.
func TestNilArgumentsAreNamed(t *testing.T) {
	p := makePool(t, pool.Config[int]{})
	id := adopt(t, p, 1)
	open := func(context.Context) (int, error) { t.Error("opened"); return 0, nil }
	var none context.Context
	for _, test := range []struct {
		err  error
		name string
	}{
		{second(pool.Run(none, p, open)), "ctx"},
		{second(pool.Run[int](bg, p, nil)), "fn"},
		{p.Do(none, nothing), "ctx"},
		{p.Do(bg, nil), "fn"},
		{second(pool.Transact(none, p, id, func(context.Context, int) (int, error) { return 0, nil })), "ctx"},
		{second(pool.Transact[int](bg, p, id, nil)), "fn"},
		{p.With(none, id, leave), "ctx"},
		{p.With(bg, id, nil), "fn"},
		{second(p.Register(none, open)), "ctx"},
		{second(p.Register(bg, nil)), "open"},
		{p.Replace(none, id, func(context.Context, int) (int, error) { return 0, nil }), "ctx"},
		{p.Replace(bg, id, nil), "open"},
		{second(pool.Scoped(none, p, open, func(context.Context, int) (int, error) { return 0, nil }, nil)), "ctx"},
		{second(pool.Scoped[int, int](bg, p, nil, func(context.Context, int) (int, error) { return 0, nil }, nil)), "open"},
		{second(pool.Scoped[int](bg, p, open, nil, nil)), "use"},
		{p.Destroy(none, id), "ctx"},
		{p.Shutdown(none), "ctx"},
	} {
		wrong(t, test.err, test.name, nil)
	}
	if !p.Has(id) || p.Stats().State != pool.Open || p.Stats().Lane.Started != 0 {
		t.Errorf("something was done: %+v", p.Stats())
	}
	closes(t, p)
	// Lifecycle comes first.
	is(t, p.Do(none, nil), ioerr.ErrShutdown)
	is(t, second(p.Register(none, nil)), ioerr.ErrShutdown)
	is(t, second(pool.Scoped[int, int](none, p, nil, nil, nil)), ioerr.ErrShutdown)
}

func second[T any](_ T, err error) error { return err }

// Law: a pool that New did not make refuses everything and panics at nothing.
func TestNilAndZeroPoolsRefuseEverything(t *testing.T) {
	var none context.Context
	for name, p := range map[string]*pool.Pool[int]{"nil": nil, "zero": new(pool.Pool[int])} {
		t.Run(name, func(t *testing.T) {
			open := func(context.Context) (int, error) { t.Error("opened"); return 0, nil }
			exchange := func(context.Context, int) (int, error) { t.Error("ran"); return 0, nil }
			for _, err := range []error{
				second(pool.Run(bg, p, open)),
				second(pool.Run[int](none, p, nil)),
				p.Do(bg, nothing),
				p.Do(bg, nil),
				second(pool.Transact(bg, p, noID, exchange)),
				p.With(bg, handle.Make(1, 2, 3), leave),
				p.With(bg, noID, nil),
				second(p.Register(bg, open)),
				second(p.Adopt(1)),
				p.Replace(bg, noID, exchange),
				p.Replace(bg, noID, nil),
				second(pool.Scoped(bg, p, open, exchange, nil)),
				second(pool.Scoped[int, int](bg, p, nil, nil, nil)),
				p.Destroy(bg, noID),
				p.Shutdown(bg),
				p.Close(),
			} {
				wrong(t, err, "p", "pool.Pool")
			}
			if p.Has(noID) || p.Has(handle.Make(1, 2, 3)) {
				t.Error("it has something")
			}
			if s := p.Stats(); s.State.String() != "not made by New" || s.Handles != 0 || s.Failed != 0 {
				t.Errorf("%+v", s)
			}
			if id := p.IDFromUint64(1<<32 | 1); p.Has(id) {
				t.Errorf("%v", id)
			}
		})
	}
}

// Law: an ID that names nothing is told apart from one of another pool.
func TestIDsThatNameNothing(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p, other := on(g, pool.Config[int]{}), makePool(t, pool.Config[int]{})
		id := adopt(t, p, 1)
		stale := adopt(t, p, 2)
		foreign := adopt(t, other, 3)
		succeeds(t, p.Destroy(bg, stale))
		for _, test := range []struct {
			id   handle.ID
			want error
		}{
			{noID, ioerr.ErrHandleNotFound},
			{stale, ioerr.ErrHandleNotFound},
			{p.IDFromUint64(0), ioerr.ErrHandleNotFound},
			{p.IDFromUint64(math.MaxUint64), ioerr.ErrHandleNotFound},
			{p.IDFromUint64(id.Uint64() + 1), ioerr.ErrHandleNotFound},
			{p.IDFromUint64(id.Uint64() &^ math.MaxUint32), ioerr.ErrHandleNotFound}, // generation zero
			{foreign, ioerr.ErrScopeMismatch},
			{handle.Make(id.Scope()+1, id.Slot(), id.Generation()), ioerr.ErrScopeMismatch},
			{handle.Make(0, id.Slot(), id.Generation()), ioerr.ErrScopeMismatch},
			{handle.Make(math.MaxUint64, math.MaxUint32, math.MaxUint32), ioerr.ErrScopeMismatch},
		} {
			w := refusal(ioerr.Handle, test.want)
			w.id, w.lane = test.id, laneName
			w.check(t, p.With(bg, test.id, leave))
			w.check(t, p.Replace(bg, test.id, func(context.Context, int) (int, error) { return 0, nil }))
			if p.Has(test.id) {
				t.Errorf("has %v", test.id)
			}
		}
		if got := p.IDFromUint64(id.Uint64()); got != id {
			t.Errorf("%v became %v", id, got)
		}
		closes(t, p)
		is(t, p.With(bg, foreign, leave), ioerr.ErrShutdown)
		is(t, p.With(bg, noID, leave), ioerr.ErrShutdown)
		closes(t, other)
	})
}

// Law: a dead context is refused on arrival, wherever it arrives: nothing runs.
func TestDeadOnArrival(t *testing.T) {
	cause := errors.New("cause")
	cancelled, cancel := context.WithCancelCause(bg)
	cancel(cause)
	expired, stop := context.WithDeadlineCause(bg, time.Now().Add(-time.Hour), cause)
	defer stop()
	plain, stop2 := context.WithTimeout(bg, -1)
	defer stop2()
	for _, test := range []struct {
		ctx  context.Context
		want want
	}{
		{cancelled, want{outcome: ioerr.Cancelled, err: cause}},
		{expired, want{outcome: ioerr.TimedOut, err: cause}},
		{plain, want{outcome: ioerr.TimedOut, err: context.DeadlineExceeded}},
	} {
		w := test.want
		w.origin, w.effect, w.lane = ioerr.Executor, ioerr.None, laneName
		everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
			shop := newShop(t)
			p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
			id := adopt(t, p, shop.make())
			before := p.Stats()
			ran := func(context.Context) error { t.Error("ran"); return nil }
			w.check(t, p.Do(test.ctx, ran))
			w.check(t, p.With(test.ctx, id, with(ran)))
			_, err := p.Register(test.ctx, func(context.Context) (*thing, error) { t.Error("opened"); return nil, nil })
			w.check(t, err)
			_, err = pool.Scoped(test.ctx, p, shop.open, func(context.Context, *thing) (int, error) { t.Error("ran"); return 0, nil }, shop.dispose)
			w.check(t, err)
			w.check(t, p.Replace(test.ctx, id, func(context.Context, *thing) (*thing, error) { t.Error("opened"); return nil, nil }))
			after := p.Stats()
			if got := after.Cancelled + after.TimedOut - before.Cancelled - before.TimedOut; got != 5 {
				t.Errorf("%d counted, want 5", got)
			}
			if after.Lane.Started != before.Lane.Started || after.Handles != 1 || after.Ran != 0 {
				t.Errorf("%+v", after)
			}
			closes(t, p)
			shop.allBack()
		})
	}
}
