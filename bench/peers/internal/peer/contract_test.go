package peer

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/iolane/iolane/bench/peers/internal/quiet"
)

// each runs a test for every maker that can do what the test needs.
func each(t *testing.T, want Set, test func(*testing.T, Maker)) {
	t.Helper()
	for _, mk := range All() {
		if mk.Does.Has(want) {
			t.Run(mk.Name, func(t *testing.T) { test(t, mk) })
		}
	}
}

// start makes a peer that is closed when the test ends.
func start(t *testing.T, mk Maker, c Config) Peer {
	t.Helper()
	p, err := mk.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error("Close:", err)
		}
	})
	return p
}

func TestWhatAPeerSaysItDoesItsTypeCanDo(t *testing.T) {
	names := make(map[string]bool)
	for _, mk := range All() {
		if names[mk.Name] {
			t.Errorf("two peers are called %s", mk.Name)
		}
		names[mk.Name] = true
		p := start(t, mk, Config{Slots: 1, Callers: 1, Resources: 1})
		_, tries := p.(Trier)
		_, transacts := p.(Transactor)
		_, churns := p.(Churner)
		for _, c := range []struct {
			what string
			does Set
			can  bool
		}{{"Tries", Tries, tries}, {"Transacts", Transacts, transacts}, {"Churns", Churns, churns}} {
			if mk.Does.Has(c.does) && !c.can {
				t.Errorf("%s: says %s, but has no such method", mk.Name, c.what)
			}
		}
		if mk.Does.Has(Tries) != (mk.Full != nil) {
			t.Errorf("%s: Tries and Full do not go together", mk.Name)
		}
		if mk.Does&(Calls|Transacts) == 0 {
			t.Errorf("%s: is measured at nothing", mk.Name)
		}
	}
}

func TestResultAndErrorReachTheCaller(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, 40)
	errNo := errors.New("no")
	each(t, Calls, func(t *testing.T, mk Maker) {
		p := start(t, mk, Config{Slots: 2, Callers: 8})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				v, err := p.Call(ctx, func(ctx context.Context) (int, error) {
					n, _ := ctx.Value(key{}).(int)
					return n + i, nil
				})
				if v != 40+i || err != nil {
					t.Errorf("Call: got %d, %v, want %d", v, err, 40+i)
				}
				if _, err := p.Call(ctx, func(context.Context) (int, error) { return 0, errNo }); !errors.Is(err, errNo) {
					t.Errorf("Call: got error %v, want %v", err, errNo)
				}
				v, err = p.CallArg(ctx, func(_ context.Context, n int) (int, error) { return 2 * n, nil }, i)
				if v != 2*i || err != nil {
					t.Errorf("CallArg: got %d, %v, want %d", v, err, 2*i)
				}
				if _, err := p.CallArg(ctx, func(context.Context, int) (int, error) { return 0, errNo }, i); !errors.Is(err, errNo) {
					t.Errorf("CallArg: got error %v, want %v", err, errNo)
				}
			})
		}
		wg.Wait()
	})
}

// crowd counts who is inside, and the most there ever were.
type crowd struct{ in, most atomic.Int64 }

func (c *crowd) visit(context.Context) (int, error) {
	n := c.in.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	for range 3 {
		runtime.Gosched()
	}
	c.in.Add(-1)
	return 0, nil
}

func TestNoMoreCallsThanSlotsRun(t *testing.T) {
	const slots, callers = 3, 32
	each(t, 0, func(t *testing.T, mk Maker) {
		if !mk.Bounded {
			t.Skip("has no bound to keep")
		}
		p := start(t, mk, Config{Slots: slots, Callers: callers, Resources: slots})
		var c crowd
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for range 20 {
					var err error
					if mk.Does.Has(Calls) {
						_, err = p.Call(t.Context(), c.visit)
					} else {
						_, err = p.(Transactor).Transact(t.Context(), i%slots, func(ctx context.Context, _ *Resource) (int, error) {
							return c.visit(ctx)
						})
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if most := c.most.Load(); most > slots {
			t.Errorf("%d calls ran at a time, with %d slots", most, slots)
		}
	})
}

// hold takes n slots until release is called.
func hold(t *testing.T, p Peer, n int) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	var in, out sync.WaitGroup
	in.Add(n)
	for range n {
		out.Go(func() {
			if _, err := p.Call(context.Background(), func(context.Context) (int, error) {
				in.Done()
				<-gate
				return 0, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	in.Wait()
	return sync.OnceFunc(func() { close(gate); out.Wait() })
}

func TestAWaitingCallerLeavesWhenItsContextEnds(t *testing.T) {
	const slots, callers = 2, 8
	each(t, Calls|Cancels, func(t *testing.T, mk Maker) {
		p := start(t, mk, Config{Slots: slots, Callers: slots + callers})
		release := hold(t, p, slots)
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				_, err := p.Call(ctx, func(context.Context) (int, error) {
					t.Error("a call ran although its context had ended and every slot was taken")
					return 0, nil
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want %v", err, context.Canceled)
				}
			})
		}
		if err := quiet.Wait(); err != nil {
			t.Fatal(err)
		}
		cancel()
		wg.Wait() // while the slots are held
		release()
		if v, err := p.Call(t.Context(), func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
			t.Errorf("afterwards: got %d, %v, want 7", v, err)
		}
	})
}

func TestAFullPeerRefuses(t *testing.T) {
	const slots = 2
	one := func(context.Context) (int, error) { return 1, nil }
	each(t, Tries, func(t *testing.T, mk Maker) {
		p := start(t, mk, Config{Slots: slots, Callers: slots + 1, Refuse: true})
		try := p.(Trier).TryCall
		// Workers need a moment to be ready, at the start and after each call.
		succeed := func() {
			t.Helper()
			for {
				v, err := try(t.Context(), one)
				if errors.Is(err, mk.Full) && mk.Kind == HandOff {
					runtime.Gosched()
					continue
				}
				if v != 1 || err != nil {
					t.Errorf("got %d, %v, want 1", v, err)
				}
				return
			}
		}
		succeed()
		release := hold(t, blocking{p, mk.Full}, slots)
		if _, err := try(t.Context(), func(context.Context) (int, error) {
			t.Error("a call ran although every slot was taken")
			return 0, nil
		}); !errors.Is(err, mk.Full) {
			t.Errorf("got %v, want %v", err, mk.Full)
		}
		release()
		succeed()
	})
}

// blocking makes a peer that refuses one that waits.
type blocking struct {
	Peer
	full error
}

func (p blocking) Call(ctx context.Context, fn Func) (int, error) {
	for {
		if v, err := p.Peer.Call(ctx, fn); !errors.Is(err, p.full) {
			return v, err
		}
		runtime.Gosched()
	}
}

func TestATransactionHasItsResourceToItself(t *testing.T) {
	const slots, callers, resources, rounds = 2, 12, 3, 30
	add := func(_ context.Context, r *Resource) (int, error) {
		r.N++ // the race detector sees whether this is exclusive
		runtime.Gosched()
		return r.N, nil
	}
	each(t, Transacts, func(t *testing.T, mk Maker) {
		p := start(t, mk, Config{Slots: slots, Callers: callers, Resources: resources})
		transact := p.(Transactor).Transact
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for range rounds {
					if _, err := transact(t.Context(), i%resources, add); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for i := range resources {
			if n, err := transact(t.Context(), i, add); n != callers/resources*rounds+1 || err != nil {
				t.Errorf("resource %d: got %d, %v, want %d", i, n, err, callers/resources*rounds+1)
			}
		}
		errNo := errors.New("no")
		if _, err := transact(t.Context(), 0, func(context.Context, *Resource) (int, error) { return 0, errNo }); !errors.Is(err, errNo) {
			t.Errorf("got error %v, want %v", err, errNo)
		}
	})
}

func TestResourcesComeAndGo(t *testing.T) {
	each(t, Churns, func(t *testing.T, mk Maker) {
		p := start(t, mk, Config{Slots: 2, Callers: 8})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					v, err := p.(Churner).Churn(t.Context(), func(_ context.Context, r *Resource) (int, error) {
						r.N++
						return r.N, nil
					})
					if v != 1 || err != nil {
						t.Errorf("got %d, %v, want 1 from a new resource", v, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestCloseServesOrRefusesWhoWaits(t *testing.T) {
	const slots, callers = 2, 16
	each(t, Calls|Drains, func(t *testing.T, mk Maker) {
		p, err := mk.New(Config{Slots: slots, Callers: slots + callers})
		if err != nil {
			t.Fatal(err)
		}
		release := hold(t, p, slots)
		var wg, coming sync.WaitGroup
		coming.Add(callers)
		var ran, served, refused atomic.Int64
		for range callers {
			wg.Go(func() {
				coming.Done()
				_, err := p.Call(context.Background(), func(context.Context) (int, error) {
					ran.Add(1)
					return 0, nil
				})
				if err != nil {
					refused.Add(1)
				} else {
					served.Add(1)
				}
			})
		}
		coming.Wait()
		if err := quiet.Wait(); err != nil {
			t.Fatal(err)
		}
		closed := make(chan error)
		go func() { closed <- p.Close() }()
		release()
		wg.Wait()
		if err := <-closed; err != nil {
			t.Error("Close:", err)
		}
		if s, r := served.Load(), refused.Load(); s+r != callers || ran.Load() != s {
			t.Errorf("%d served, %d refused, %d ran, of %d callers", s, r, ran.Load(), callers)
		}
	})
}
