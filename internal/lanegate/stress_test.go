package lanegate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// storm is callers of all kinds in real concurrency, and what they see from inside.
type storm struct {
	*testing.T
	Config
	gates   []*Gate
	most    int // slots a gate may ever have
	running atomic.Int64
	normal  atomic.Int64 // those among them that are not urgent
	came    atomic.Uint64
	got     [Hopeless + 1]atomic.Uint64
}

func (s *storm) call(g *Gate) {
	ctx, r := context.Background(), Request{
		Urgent:   rand.IntN(6) == 0,
		FailFast: rand.IntN(8) == 0,
		NoWait:   rand.IntN(8) == 0,
		Must:     rand.IntN(16) == 0,
		Owner:    rand.Uint64N(4),
	}
	cancel := func() {}
	switch rand.IntN(5) {
	case 0:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(200))*time.Microsecond)
	case 1:
		ctx, cancel = context.WithCancel(ctx)
		go cancel()
	case 2:
		r.Expire = time.Now().Add(time.Duration(rand.IntN(100)) * time.Microsecond)
	}
	defer cancel()
	s.came.Add(1)
	slot, v := g.Acquire(ctx, &r)
	s.got[v].Add(1)
	if v != Granted {
		return
	}
	if n := s.running.Add(1); n > int64(s.most*len(s.gates)) {
		s.Errorf("%d run", n)
	}
	if !r.Urgent {
		if n := s.normal.Add(1); n > int64((s.most-s.Reserved)*len(s.gates)) {
			s.Errorf("%d normal ones run", n)
		}
	}
	switch rand.IntN(4) {
	case 1:
		runtime.Gosched()
	case 2:
		time.Sleep(time.Duration(rand.IntN(20)) * time.Microsecond)
	}
	s.running.Add(-1)
	if !r.Urgent {
		s.normal.Add(-1)
	}
	if slot.Release() {
		s.Error("inherits an open gate")
	}
}

// watch compares snapshots under load until stop is closed.
func (s *storm) watch(g *Gate, resize bool, stop chan struct{}) {
	var last Stats
	accounted := func(s Stats) uint64 {
		if g.group != nil { // one may wait here and start elsewhere
			return 0
		}
		return came(s)
	}
	for {
		select {
		case <-stop:
			return
		default:
		}
		now := g.Stats()
		switch {
		case now.Started != now.Completed+uint64(now.Running):
			s.Errorf("started, completed and running do not add up: %+v", now)
		case now.Started < last.Started || now.Completed < last.Completed || accounted(now) < accounted(last):
			s.Errorf("a count went back: %+v, then %+v", last, now)
		case now.Running < 0 || now.Running > s.most:
			s.Errorf("%d run", now.Running)
		case now.Waiting > 2*s.Waiters:
			s.Errorf("%d wait for acceptance", now.Waiting)
		}
		last = now
		if resize {
			g.Resize(s.Reserved + 1 + rand.IntN(s.most-s.Reserved))
			if rand.IntN(8) == 0 {
				g.Evict(rand.Uint64N(4))
			}
		}
		runtime.Gosched()
	}
}

func (s *storm) run(callers, calls int, resize bool) {
	var wg, watchers sync.WaitGroup
	stop := make(chan struct{})
	for _, g := range s.gates {
		watchers.Go(func() { s.watch(g, resize, stop) })
	}
	for i := range callers {
		wg.Go(func() {
			for range calls {
				s.call(s.gates[i%len(s.gates)])
			}
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(time.Minute):
		for i, g := range s.gates {
			g.mu.Lock()
			s.Errorf("gate %d: %v", i, g.faults())
			g.mu.Unlock()
		}
		s.Fatalf("hangs: %d run, %d came", s.running.Load(), s.came.Load())
	}
	close(stop)
	watchers.Wait()
	s.count()
}

// count compares what the callers saw with what the gates have counted.
func (s *storm) count() {
	empty(s.T, s.gates...)
	var sum Stats
	for _, g := range s.gates {
		st := g.Stats()
		sum.Started += st.Started
		sum.Dropped += st.Dropped
		for v, n := range st.Refused {
			sum.Refused[v] += n
		}
	}
	sum.Refused[Ended] += sum.Dropped
	sum.Refused[Granted] = sum.Started
	for v := range s.got {
		if got := s.got[v].Load(); got != sum.Refused[v] {
			s.Errorf("verdict %d: %d callers saw it, the gates counted %d", v, got, sum.Refused[v])
		}
	}
}

func TestTheLawsHoldInAStorm(t *testing.T) {
	calls := 40
	if testing.Short() {
		calls = 10
	}
	for _, patience := range []time.Duration{strict, 20 * time.Microsecond, ms} {
		for _, slots := range []int{1, 2, 3, 8} {
			for variant := range 8 {
				grouped, reserved, resize := variant&1 != 0, variant&2 != 0 && slots > 1, variant&4 != 0
				t.Run(fmt.Sprintf("patience=%v,slots=%d,grouped=%v,reserved=%v,resize=%v", patience, slots, grouped, reserved, resize), func(t *testing.T) {
					s := &storm{T: t, most: slots, Config: Config{
						Slots: slots, Queue: 12, Waiters: 4, LIFO: rand.IntN(4) == 0, Patience: patience, Tickets: new(Tickets),
					}}
					if reserved {
						s.Reserved = 1
					}
					s.gates = []*Gate{New(s.Config)}
					if grouped {
						s.gates = append(s.gates, New(s.Config), New(s.Config))
						Join(s.gates)
					}
					s.run(32, calls, resize)
				})
			}
		}
	}
}

// Two callers and one slot, nobody else to find a wake-up that was lost between
// them, and no timer.
func TestNoWakeUpIsLostBetweenTwo(t *testing.T) {
	rounds := 50_000
	if testing.Short() {
		rounds = 10_000
	}
	for _, patience := range []time.Duration{strict, patient} {
		for _, group := range []int{1, 2} {
			gs := newGroup(group, Config{Slots: 1, Queue: 1, Patience: patience})
			waiter, holder := gs[0], gs[group-1]
			own := make([]Slot, 0, 1)
			if group == 2 { // its own slot stays in use: it has to borrow
				own = append(own, take(t, waiter, Request{}))
			}
			turn := make(chan Slot)
			begun := make(chan struct{})
			go func() {
				defer close(turn)
				for range rounds {
					begun <- struct{}{}
					s, v := waiter.Acquire(context.Background(), &Request{})
					if v != Granted {
						t.Errorf("verdict %d", v)
					}
					turn <- s
				}
			}()
			s := take(t, holder, Request{})
			for range rounds {
				<-begun
				for range rand.IntN(200) { // meets the waiter at any of its steps
					runtime.KeepAlive(s)
				}
				s.Release()
				select {
				case s = <-turn:
				case <-time.After(10 * time.Second):
					t.Fatal("a wake-up was lost")
				}
			}
			s.Release()
			<-turn
			for _, s := range own {
				s.Release()
			}
			empty(t, gs...)
		}
	}
}

// Edges are noted under the mutex and delivered elsewhere: in a storm too they
// come once each, in order, and the last one says how it ended.
func TestEdgesAlternateInAStorm(t *testing.T) {
	var seq atomic.Uint64
	var busy, full alternation
	c := Config{Slots: 2, Queue: 3, Waiters: 3, Patience: 20 * time.Microsecond, Tickets: new(Tickets)}
	c.OnEdge = func(e Edge) {
		if e.Seq <= seq.Load() || !busy.follows(e.Kind, EdgeBusy, EdgeIdle) || !full.follows(e.Kind, EdgeSaturated, EdgeUnsaturated) {
			t.Errorf("edge %d, %d, is out of order", e.Seq, e.Kind)
		}
		seq.Store(e.Seq)
		if rand.IntN(64) == 0 {
			runtime.Goexit()
		}
	}
	s := &storm{T: t, most: 2, Config: c, gates: []*Gate{New(c)}}
	s.run(16, 200, false)
	g := s.gates[0]
	g.Close()
	if !g.Drain(t.Context()) || bool(busy || full) {
		t.Errorf("busy %v, saturated %v at the end", busy, full)
	}
	if n := seq.Load(); n != g.edges.seq || n == 0 {
		t.Errorf("the last of %d edges was %d", g.edges.seq, n)
	}
}
