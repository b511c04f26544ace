package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// shutdownFor is a Shutdown that is given d, and its report.
func shutdownFor[R any](t *testing.T, p *pool.Pool[R], d time.Duration) (*pool.Report, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, d)
	defer cancel()
	began := time.Now()
	err := p.Shutdown(ctx)
	if got := time.Since(began); got > d {
		t.Errorf("Shutdown took %v, want at most %v", got, d)
	}
	if err == nil {
		return nil, nil
	}
	_ = typed(t, err)
	r, ok := errors.AsType[*pool.Report](err)
	if !ok {
		t.Fatalf("no report in %v", err)
	}
	return r, err
}

func ids(ids ...handle.ID) string { return names(ids) }

// names is a list without its order.
func names[T fmt.Stringer](list []T) string {
	var s []string
	for _, x := range list {
		s = append(s, x.String())
	}
	slices.Sort(s)
	return strings.Join(s, ", ")
}

// Law: the report lists each call that still runs once, each resource that is not
// disposed of once, and nothing else.
func TestReportIsExact(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 10}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		broken := errors.New("broken")
		stuck := newGate()
		bad, slow := shop.make(), shop.make()
		shop.fails = func(r *thing) error {
			switch r {
			case bad:
				return broken
			case slow:
				stuck.stay()
			}
			return nil
		}
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Hour})
		failing := adopt(t, p, bad)
		replaced := adopt(t, p, slow)
		named := adopt(t, p, shop.make())
		nameless := adopt(t, p, shop.make())
		adopt(t, p, shop.make()) // idle

		busy := newGate()
		var calls []<-chan error
		for _, call := range []func() error{
			func() error { return p.Do(bg, busy.pass, pool.Label("stat")) },
			func() error { return p.Do(bg, busy.pass) },
			func() error { return p.Do(bg, busy.pass) },
			func() error { return p.With(bg, named, with(busy.pass), pool.Label("read")) },
			func() error { return p.With(bg, nameless, with(busy.pass)) },
		} {
			calls = append(calls, start(call))
			time.Sleep(time.Minute) // so that they differ in age
		}
		open := func(ctx context.Context) (*thing, error) { return shop.make(), busy.pass(ctx) }
		for _, opts := range [][]pool.Option{{pool.Label("open")}, nil} {
			reg := start(func() error { _, err := p.Register(bg, open, opts...); return err })
			waits(t, reg)
			defer func() { is(t, ended(t, reg), ioerr.ErrShutdown) }()
		}
		busy.await(t, 7)
		replacing := start(func() error {
			return p.Replace(bg, replaced, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
		})
		stuck.await(t, 1)
		waits(t, replacing)

		r, err := shutdownFor(t, p, time.Second)
		want{ioerr.TimedOut, ioerr.Executor, ioerr.Unknown, context.DeadlineExceeded, noID, "", laneName}.check(t, err)
		if !errors.Is(err, broken) {
			t.Error("the failed hook is not in the error")
		}
		var labels []string
		var openings []handle.ID
		for _, c := range r.Running {
			if c.Handle != named && c.Handle != nameless && !c.Handle.IsZero() {
				openings = append(openings, c.Handle)
				c.Handle = noID
			}
			labels = append(labels, fmt.Sprint(c.Label, c.Handle, c.Age))
		}
		slices.Sort(labels)
		wantLabels := []string{
			fmt.Sprint("stat", noID, 5*time.Minute+time.Second),
			fmt.Sprint("read", named, 2*time.Minute+time.Second),
			fmt.Sprint("", nameless, time.Duration(0)),
			fmt.Sprint("open", noID, time.Second),
			fmt.Sprint("", noID, time.Duration(0)),
		}
		slices.Sort(wantLabels)
		if got, want := strings.Join(labels, "; "), strings.Join(wantLabels, "; "); got != want {
			t.Errorf("running\n%s, want\n%s", got, want)
		}
		if r.Others != 2 {
			t.Errorf("%d without a label, want 2", r.Others)
		}
		if len(openings) != 2 {
			t.Fatalf("%d handles are being opened, want 2", len(openings))
		}
		if got, want := names(r.Undisposed), ids(named, nameless, replaced, openings[0], openings[1]); got != want {
			t.Errorf("undisposed\n%s, want\n%s", got, want)
		}
		if len(r.Failed) != 1 || r.FailedTotal != 1 || r.Failed[0].Handle != failing || r.Failed[0].Err != broken {
			t.Errorf("failed: %v, %d in all", r.Failed, r.FailedTotal)
		}
		for _, part := range []string{"5 running: ", "2 more running or queued;", "5 not disposed of: ", "1 failed: dispose ", ", …"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not contain %q", err, part)
			}
		}

		busy.open()
		stuck.open()
		for _, c := range append(calls, replacing) {
			succeeds(t, ended(t, c))
		}
		for range 3 {
			r, err := shutdownFor(t, p, time.Hour)
			want{ioerr.Failed, ioerr.Executor, ioerr.Done, broken, noID, "", laneName}.check(t, err)
			if len(r.Running)+r.Others+len(r.Undisposed) != 0 || len(r.Failed) != 1 || r.FailedTotal != 1 {
				t.Errorf("%+v", r)
			}
		}
		shop.allBack()
	})
}

// Law: calls that were accepted and still wait for a slot count as running, the
// disposals that wait there do not.
func TestReportCountsAcceptedCallsAndNoDisposals(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("where the calls wait depends on their shard")
		}
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		for range 20 {
			adopt(t, p, shop.make())
		}
		id := adopt(t, p, shop.make())
		full := fill(t, g, p)
		queued := []<-chan error{
			start(func() error { return p.Do(bg, nothing) }),
			start(func() error { return p.Do(bg, nothing, pool.Label("listed when it runs")) }),
			start(func() error { return p.With(bg, id, leave) }),
		}
		for _, c := range queued {
			waits(t, c)
		}
		r, _ := shutdownFor(t, p, time.Second)
		if len(r.Running) != 1 || r.Running[0] != (pool.Call{Handle: id}) || r.Others != g.slots+2 || len(r.Undisposed) != 21 {
			t.Errorf("running %v, %d unlabelled, %d undisposed", r.Running, r.Others, len(r.Undisposed))
		}
		full.open()
		synctest.Wait()
		for _, c := range queued {
			err := ended(t, c)
			if g.gated {
				succeeds(t, err)
			}
		}
		closes(t, p)
		shop.allBack()
	})
}

// Law: a report with nothing in it still says something.
func TestEmptyReportHasAText(t *testing.T) {
	if s := new(pool.Report).Error(); s == "" {
		t.Error("no text")
	}
	if errs := new(pool.Report).Unwrap(); len(errs) != 0 {
		t.Errorf("%v", errs)
	}
}
