package uring

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// world drives a ring on a fake kernel by random steps, beside a naive model: a list of
// what was described and has not been told yet.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	f       *fake
	r       *Ring
	taken   []Slot
	pending map[int]Slot // by index: described, not told
	tried   map[Slot]bool
	told    int
	begun   int
	trace   []string
}

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	for _, s := range w.trace[max(0, len(w.trace)-40):] {
		w.t.Log(s)
	}
	w.t.Fatalf(format, args...)
}

// done is what Reap and Close call.
func (w *world) done(c Completion) {
	s, ok := w.pending[c.Slot.Index()]
	if !ok {
		w.fatal("told of %d, which was not pending", c.Slot.Index())
	}
	if c.Cancel != NotCancelled && !w.tried[s] {
		w.fatal("cancelled by nobody: %+v", c)
	}
	// The fake's results: the low bits of the name, unless it was cancelled or dropped.
	if want := int32(s & 0xffff); c.Res != want && c.Res != -int32(errCANCELED) {
		w.fatal("%x told of another one's result %d", s, c.Res)
	}
	delete(w.pending, c.Slot.Index())
	w.told++
	if w.rand.IntN(4) == 0 && len(w.taken) > 0 { // from inside
		w.describe()
	}
}

func (w *world) describe() {
	s := w.taken[0]
	w.taken = w.taken[1:]
	if old, ok := w.pending[s.Index()]; ok {
		w.fatal("%x was granted while %x is pending", s, old)
	}
	w.pending[s.Index()] = s
	w.begun++
	switch w.rand.IntN(3) {
	case 0:
		w.r.Nop(s)
	case 1:
		w.r.Timeout(s, time.Hour)
	case 2:
		w.r.Write(s, 7, []byte("x"), 0)
	}
}

func (w *world) any() (Slot, bool) {
	for _, s := range w.pending {
		return s, true
	}
	return 0, false
}

func (w *world) step() {
	step := w.rand.IntN(13)
	w.trace = append(w.trace, fmt.Sprint("step ", step, " pending ", len(w.pending), " flight ", len(w.f.flight), " filled ", w.r.Filled()))
	switch step {
	case 0, 1, 2:
		if s, ok := w.r.Take(); ok {
			w.taken = append(w.taken, s)
		} else if w.r.Err() == nil && len(w.pending)+len(w.taken) < w.r.info.Slots && w.r.Filled() == 0 && len(w.taken) == 0 {
			w.fatal("refused though there are slots and room")
		}
	case 3, 4:
		if len(w.taken) > 0 {
			w.describe()
		}
	case 5:
		if len(w.taken) > 0 {
			w.r.Drop(w.taken[0])
			w.taken = w.taken[1:]
		}
	case 6:
		if s, ok := w.any(); ok {
			if w.r.Cancel(s) == Described {
				w.tried[s] = true
			}
		}
		w.r.Cancel(Slot(w.rand.Uint64()))
	case 7:
		_ = w.r.Submit()
	case 8:
		_ = w.r.Enter(w.rand.IntN(4), 0, 0)
	case 9:
		_ = w.r.Enter(All, w.rand.IntN(4), time.Duration(w.rand.IntN(3)-1)*time.Second)
	case 10:
		w.r.Reap(w.done)
	case 11:
		w.f.completeOne()
	case 12:
		if w.rand.IntN(3) == 0 {
			w.r.Wake()
		}
		w.f.post(w.rand.Uint64()&^(1<<32), 5) // somebody else's
	}
	w.check()
}

func (w *world) check() {
	busy := 0
	for i := range w.r.slots {
		if w.r.slots[i].state == busySlot && i < w.r.info.Slots {
			busy++
			if _, ok := w.pending[i]; !ok {
				w.fatal("%d is busy and not pending", i)
			}
		}
	}
	if busy != len(w.pending) || busy != w.r.Busy() {
		w.fatal("%d busy (%d), %d pending", busy, w.r.Busy(), len(w.pending))
	}
	if w.r.state == stateOpen && w.r.room+w.r.Filled()+len(w.taken) > w.r.info.Entries {
		w.fatal("room %d, filled %d, taken %d", w.r.room, w.r.Filled(), len(w.taken))
	}
	if w.r.owed > w.r.info.CQEntries {
		w.fatal("%d completions to come, %d places", w.r.owed, w.r.info.CQEntries)
	}
}

// TestStepsInAnyOrder: each operation is told exactly once, with its own result, whatever
// happens in which order, and whatever the kernel says.
func TestStepsInAnyOrder(t *testing.T) {
	rounds, steps := 300, 300
	if raceDetector || testing.Short() {
		rounds = 60
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 5))
		f := newFake()
		f.rand = r
		config := Config{Slots: 1 + r.IntN(12), Entries: 1 + r.IntN(8), Thread: r.IntN(2) == 0}
		ring, err := newRing(f, config)
		if err != nil {
			t.Fatal(err)
		}
		f.ring = ring
		f.hold = func(sqe) bool { return r.IntN(2) == 0 }
		f.result = func(e sqe) int32 { return int32(e.userData & 0xffff) }
		f.most = r.IntN(4)
		f.atSleep = func() {
			if !f.completeOne() {
				f.wake(0) // if not even that ends the wait, nothing would
			}
		}
		broken := false
		f.fail = func(call string) syscall.Errno {
			switch {
			case call != "enter":
			case broken:
				return syscall.EBADF
			case r.IntN(10) == 0:
				return []syscall.Errno{errINTR, errAGAIN, errBUSY}[r.IntN(3)]
			}
			return 0
		}
		w := &world{t: t, rand: r, f: f, r: ring, pending: map[int]Slot{}, tried: map[Slot]bool{}}
		w.trace = append(w.trace, fmt.Sprintf("seed %d: %+v", seed, config))
		for i := range steps {
			if seed%3 == 0 && i == steps/2 {
				broken = true
				_ = ring.Submit() // retires it if there is anything to submit
				broken = false
			}
			w.step()
		}
		if err := ring.Close(time.Minute, w.done); err != nil {
			w.fatal("%v", err)
		}
		for len(w.taken) > 0 {
			w.describe()
		}
		ring.Reap(w.done)
		if len(w.pending) > 0 || w.told != w.begun {
			w.fatal("%d begun, %d told, %d pending", w.begun, w.told, len(w.pending))
		}
		if f.fds != 0 || f.maps != 0 {
			w.fatal("left %d descriptors and %d mappings", f.fds, f.maps)
		}
	}
}
