package pool_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a call past the threshold is reported once then, and once when it ends; calls that
// end in time are not.
func TestASlowCallIsReportedOnceAndWhenItEnds(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		var l log
		p := on(g, pool.Config[int]{OnEvent: l.add, Watch: pool.Watch{Slow: time.Minute}})
		id := adopt(t, p, 1)
		for range 100 {
			require.NoError(t, p.With(bg, id, takes(59*time.Second)))
		}
		require.Empty(t, l.take())
		gate := newGate()
		slow := start(func() error { return p.With(bg, id, hold[int](gate), pool.Label("read")) })
		time.Sleep(30 * time.Second)
		nameless := start(func() error { return p.Do(bg, gate.pass) }) // half a minute later
		time.Sleep(30 * time.Second)
		events := l.take()
		require.Equal(t, []pool.Event{{Kind: pool.CallSlow, Lane: laneName, Call: pool.Call{Label: "read", Handle: id, Age: time.Minute}}}, events)
		time.Sleep(30 * time.Second)
		require.Equal(t, []pool.Event{{Kind: pool.CallSlow, Lane: laneName, Call: pool.Call{Age: time.Minute}}}, l.take())
		time.Sleep(time.Hour)
		require.Empty(t, l.take())
		gate.open()
		require.NoError(t, ended(t, slow))
		require.NoError(t, ended(t, nameless))
		require.Equal(t, []pool.EventKind{pool.CallEnded, pool.CallEnded}, kinds(l.take()))
		closes(t, p)
	})
}

// Law: the age of the queue is reported when it passes the threshold and when it is below
// again, whether calls wait for the lane or for a handle, and when every slot is stuck.
func TestTheAgeOfTheQueueIsReported(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("where a call waits depends on the shard")
		}
		var l log
		p := on(g, pool.Config[int]{OnEvent: l.add, Watch: pool.Watch{Queue: time.Second}})
		id := adopt(t, p, 1)
		for _, call := range map[string]func(label string) error{
			"lane":   func(label string) error { return p.Do(bg, nothing, pool.Label(label)) },
			"handle": func(label string) error { return p.With(bg, id, fails(nil), pool.Label(label)) },
		} {
			gate := newGate()
			holder := start(func() error { return p.With(bg, id, hold[int](gate)) })
			waits(t, holder)
			first := start(func() error { return call("first") })
			time.Sleep(999 * time.Millisecond)
			second := start(func() error { return call("second") })
			require.Empty(t, l.take())
			time.Sleep(time.Millisecond)
			events := l.take()
			if len(events) != 1 || events[0].Kind != pool.QueueSlow || events[0].Call.Label != "first" || events[0].Call.Age != time.Second || !events[0].Call.Waits {
				t.Errorf("%v", events)
			}
			time.Sleep(time.Hour)
			require.Empty(t, l.take())
			gate.open()
			for _, c := range []<-chan error{holder, first, second} {
				require.NoError(t, ended(t, c))
			}
			time.Sleep(time.Second / 4)
			require.Equal(t, []pool.EventKind{pool.QueueMoves}, kinds(l.take()))
		}
		closes(t, p)
	})
}

// Law: a lane in which nothing ends while calls wait is reported as wedged, once, and
// when it moves again. A busy lane is not wedged.
func TestAWedgedLaneIsReported(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("where a call waits depends on the shard")
		}
		var l log
		p := on(g, pool.Config[int]{OnEvent: l.add, Watch: pool.Watch{Wedged: time.Minute}})
		busy, cancel := context.WithCancel(bg)
		for range 8 {
			go func() {
				for busy.Err() == nil {
					_ = p.Do(bg, func(context.Context) error { time.Sleep(50 * time.Second); return nil })
				}
			}()
		}
		time.Sleep(time.Hour)
		require.Empty(t, l.take())
		cancel()
		time.Sleep(time.Hour)

		gate := fill(t, g, p)
		time.Sleep(time.Hour) // nobody waits
		require.Empty(t, l.take())
		waiting := start(func() error { return p.Do(bg, nothing) })
		time.Sleep(time.Minute)
		require.Empty(t, l.take())
		time.Sleep(16 * time.Second)
		events := l.take()
		if len(events) != 1 || events[0].Kind != pool.LaneWedged || events[0].Waiting != 1 || events[0].Age < time.Minute {
			t.Errorf("%v", events)
		}
		time.Sleep(time.Hour)
		require.Empty(t, l.take())
		gate.open()
		require.NoError(t, ended(t, waiting))
		time.Sleep(16 * time.Second)
		require.Equal(t, []pool.EventKind{pool.LaneMoves}, kinds(l.take()))
		closes(t, p)
	})
}

// Law: the late end of a call that was left is an event with the fate of its result.
func TestTheFateOfALateResultIsTold(t *testing.T) {
	undo := func(err error) pool.Option { return pool.Undo(func(int) error { return err }) }
	for name, c := range map[string]struct {
		fn   func() (int, error)
		opts []pool.Option
		fate pool.Fate
		err  error
	}{
		"dropped":      {fn: func() (int, error) { return 1, nil }, fate: pool.Dropped},
		"undone":       {fn: func() (int, error) { return 1, nil }, opts: []pool.Option{undo(nil)}, fate: pool.Undone},
		"undo failed":  {fn: func() (int, error) { return 1, nil }, opts: []pool.Option{undo(errIO)}, fate: pool.UndoFailed, err: errIO},
		"undo exits":   {fn: func() (int, error) { return 1, nil }, opts: []pool.Option{pool.Undo(func(int) error { runtime.Goexit(); return nil })}, fate: pool.UndoFailed, err: ioerr.ErrGoexit},
		"call failed":  {fn: func() (int, error) { return 1, errIO }, opts: []pool.Option{undo(nil)}, fate: pool.NoResult, err: errIO},
		"call exits":   {fn: func() (int, error) { runtime.Goexit(); return 1, nil }, fate: pool.NoResult, err: ioerr.ErrGoexit},
		"call panics":  {fn: func() (int, error) { panic(errIO) }, fate: pool.NoResult, err: errIO},
		"in time":      {fn: nil},
		"in the grace": {fn: nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l log
				p := leaving(t, pool.Config[int]{OnEvent: l.add}, lane.AbandoningConfig{Config: lane.Config{Name: laneName}})
				gate := newGate()
				call := start(func() error {
					return second(pool.Offload(within(t, time.Second), p, func(ctx context.Context) (int, error) {
						_ = gate.pass(ctx)
						if c.fn == nil {
							return 1, nil
						}
						return c.fn()
					}, append(c.opts, pool.Label("open"))...))
				})
				if c.fn == nil {
					if name == "in the grace" {
						time.Sleep(1500 * time.Millisecond)
					}
					gate.open()
					require.NoError(t, ended(t, call))
					require.Empty(t, l.take())
				} else {
					time.Sleep(2 * time.Second)
					require.ErrorIs(t, ended(t, call), ioerr.ErrLeft)
					left := l.take()
					if len(left) != 1 || left[0].Kind != pool.CallLeft || left[0].Call.Label != "open" || left[0].Call.Age != 2*time.Second || !errors.Is(left[0].Err, context.DeadlineExceeded) {
						t.Errorf("%v", left)
					}
					gate.open()
					late := l.take()
					if len(late) != 1 || late[0].Kind != pool.LateEnd || late[0].Fate != c.fate || late[0].Call.Label != "open" || !errors.Is(late[0].Err, c.err) {
						t.Errorf("%v", late)
					}
				}
				_ = p.Close()
			})
		})
	}
}

// Law: a callback that hangs, panics or ends its goroutine holds up no call; what it
// misses is counted.
func TestACallbackHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate()
		n := 0
		p := makePool(t, pool.Config[int]{
			Health: pool.HealthRules{Bad: func(err error) bool { return err != nil }, Down: 1 << 20},
			OnEvent: func(pool.Event) {
				gate.stay()
				if n++; n%2 == 0 {
					panic("callback")
				}
				runtime.Goexit()
			},
		})
		id := adopt(t, p, 1)
		for i := range 3000 {
			require.Equal(t, i%2 == 0, p.With(bg, id, fails([]error{errIO, nil}[i%2])) != nil)
			if i == 0 {
				synctest.Wait() // the callback has the first event
			}
		}
		s := p.Stats()
		if s.EventsMissed != 3000-1024-1 || p.Shutdown(within(t, time.Second)) == nil {
			t.Errorf("%+v", s)
		}
		gate.open()
		closes(t, p)
		if s = p.Stats(); s.CallbackPanics != 512 {
			t.Errorf("%+v", s)
		}
	})
}

// Law: a dump says who holds and who waits, for what, and for how long.
func TestDumpSaysWhoHoldsAndWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dump := func(p *pool.Pool[int]) string {
			var b strings.Builder
			require.NoError(t, p.Dump(&b))
			return b.String()
		}
		require.Equal(t, "no pool\n", dump(nil))
		p := leaving(t, pool.Config[int]{Watch: pool.Watch{Slow: time.Hour}}, lane.AbandoningConfig{Config: lane.Config{Name: "disk", Workers: 2}})
		a, b, c := adopt(t, p, 1), adopt(t, p, 2), adopt(t, p, 3)
		gate := newGate()
		all := []<-chan error{start(func() error { return p.With(bg, a, hold[int](gate), pool.Label("read a")) })}
		time.Sleep(time.Second)
		all = append(all, start(func() error { return p.With(bg, a, hold[int](gate), pool.Label("stat a")) }))
		time.Sleep(time.Second)
		require.Error(t, second(pool.OffloadOn(within(t, time.Second), p, b, func(ctx context.Context, _ int) (int, error) { return 0, gate.pass(ctx) }, pool.Label("open b"))))
		all = append(all, start(func() error { return p.Do(bg, gate.pass) }))
		synctest.Wait()
		all = append(all, start(func() error { return p.Do(bg, gate.pass, pool.Label("queued")) }))
		time.Sleep(time.Second)
		want := fmt.Sprintf(`pool open, 3 handles
lane "disk": 2 of 2 slots taken, 1 queued, 0 waiting to be accepted, 1 left running, 0 of them in a slot
runs          5s  read a  %[1]v
left          3s  open b  %[2]v
runs          1s  (no label)
waits         4s  stat a  %[1]v, for the handle
waits         1s  queued, for the lane
handle %[1]v: healthy, held by read a, 1 waiting
handle %[2]v: healthy, held by open b; refuses: handle is in use: held by a call that does not end (open b), age 3s
`, a, b)
		require.Equal(t, want, dump(p))
		gate.open()
		for _, c := range all {
			require.NoError(t, ended(t, c))
		}
		require.ErrorIs(t, p.With(bg, c, fails(pool.Poison(errIO))), errIO)
		require.Equal(t, fmt.Sprintf(`pool open, 3 handles
lane "disk": 0 of 2 slots taken, 0 queued, 0 waiting to be accepted
handle %[1]v: poisoned, kept from calls; refuses: handle is poisoned (for 0s): input/output error
`, c), dump(p))
		closes(t, p)
	})
}

// Events and their parts say what they mean.
func TestEventsAreReadable(t *testing.T) {
	for want, e := range map[string]pool.Event{
		"call slow: read 1m0s":                       {Kind: pool.CallSlow, Call: pool.Call{Label: "read", Age: time.Minute}},
		"queue slow: read 1s (waits)":                {Kind: pool.QueueSlow, Call: pool.Call{Label: "read", Age: time.Second, Waits: true}},
		"lane wedged: 3 wait, none has ended for 1s": {Kind: pool.LaneWedged, Waiting: 3, Age: time.Second},
		"late end: open, result undone":              {Kind: pool.LateEnd, Call: pool.Call{Label: "open"}, Fate: pool.Undone},
		"health changed is down: input/output error": {Kind: pool.HealthChanged, Health: pool.Down, Err: errIO},
		"unknown": {Kind: 99},
	} {
		require.Equal(t, want, e.String())
	}
	for i, want := range []string{"healthy", "suspect", "down", "probing", "poisoned", "unknown"} {
		require.Equal(t, want, pool.Health(i).String())
	}
	for i, want := range []string{"none", "dropped", "undone", "not undone", "discarded", "unknown"} {
		require.Equal(t, want, pool.Fate(i).String())
	}
}
