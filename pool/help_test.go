package pool_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/pool"
)

// rounds is how often a test repeats what it is about: few times, or many in a
// long run, which IOLANE_STRESS=1 asks for.
func rounds(few, many int) int {
	if os.Getenv("IOLANE_STRESS") == "1" {
		return many
	}
	return few
}

// start runs fn in the background; the channel gets its error.
func start(fn func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- fn() }()
	return c
}

// spawn runs fn in the background; it has to succeed.
func spawn(t testing.TB, fn func() error) {
	go func() { succeeds(t, fn()) }()
}

// waits checks that what was started has not ended. In a bubble only.
func waits(t testing.TB, c <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-c:
		t.Fatalf("did not wait, but ended with %v", err)
	default:
	}
}

// ended returns the error of what was started and must have ended by now. In a
// bubble only.
func ended(t testing.TB, c <-chan error) error {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-c:
		_ = typed(t, err)
		return err
	default:
		t.Fatal("waits, but should have ended")
		return nil
	}
}

// gate is where calls stay until it is opened.
type gate struct {
	reached chan struct{} // one token for each call that has come
	opened  chan struct{}
}

func newGate() *gate {
	return &gate{reached: make(chan struct{}, 1<<14), opened: make(chan struct{})}
}

// stay waits at the gate.
func (g *gate) stay() {
	g.reached <- struct{}{}
	<-g.opened
}

// pass is a call that stays at the gate.
func (g *gate) pass(context.Context) error { g.stay(); return nil }

// hold is pass for transactions.
func hold[R any](g *gate) func(context.Context, R) error {
	return func(ctx context.Context, _ R) error { return g.pass(ctx) }
}

func (g *gate) open() { close(g.opened) }

// await waits until n calls have come.
func (g *gate) await(t testing.TB, n int) {
	t.Helper()
	timeout := time.After(time.Minute)
	for i := range n {
		select {
		case <-g.reached:
		case <-timeout:
			t.Fatalf("%d of %d calls came to the gate", i, n)
		}
	}
}

// makePool makes a pool from a Config that is right.
func makePool[R any](t testing.TB, c pool.Config[R]) *pool.Pool[R] {
	t.Helper()
	p, err := pool.New(c)
	require.NoError(t, err)
	return p
}

// adopt gives a resource to a pool that takes it.
func adopt[R any](t testing.TB, p *pool.Pool[R], r R) handle.ID {
	t.Helper()
	id, err := p.Adopt(r)
	require.NoError(t, err)
	return id
}

// hooksEnd waits for hooks that were given up on: a Shutdown does not, and what they do comes
// after it.
func hooksEnd[R any](t testing.TB, p *pool.Pool[R]) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); p.Stats().HooksHanging > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d hooks hang", p.Stats().HooksHanging)
		}
	}
}

// closes checks that everything comes to an end without an error.
func closes[R any](t testing.TB, p *pool.Pool[R]) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if s := p.Stats(); s.State != pool.Closed || s.Handles != 0 || s.Retired != 0 || len(s.Running) != 0 {
		t.Errorf("after Close: %+v", s)
	}
}

// These spare the tests some noise.
var (
	bg   = context.Background()
	noID handle.ID
)

func nothing(context.Context) error { return nil }

func leave[R any](context.Context, R) error { return nil }

// ignore is for errors that are the business of other tests.
func ignore(error) {}
