package uring

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// refusals are what kernels, containers and limits have been seen to answer.
var refusals = []syscall.Errno{
	syscall.ENOSYS, syscall.EPERM, syscall.EACCES, syscall.EOPNOTSUPP, errINVAL, errNOMEM, syscall.EMFILE, syscall.ENFILE, errINTR, errAGAIN, errBUSY, errTIME,
}

func TestWhateverFailsInSetUpIsNamedAndUndone(t *testing.T) {
	steps := map[string]string{
		"setup": "io_uring_setup", "mmap rings": "mmap rings", "mmap entries": "mmap entries",
		"register probe": "register probe", "eventfd": "eventfd",
	}
	for call, step := range steps {
		for _, e := range refusals {
			before := Alive()
			f := newFake()
			f.fail = func(c string) syscall.Errno {
				if c == call {
					return e
				}
				return 0
			}
			r, err := newRing(f, Config{})
			if r != nil {
				t.Fatalf("%s, %v: a ring", call, e)
			}
			got, ok := errors.AsType[*Error](err)
			if !ok || got.Step != step || !errors.Is(err, e) {
				t.Errorf("%s, %v: %v", call, e, err)
			}
			if f.fds != 0 || f.maps != 0 || Alive() != before {
				t.Errorf("%s, %v: left %d descriptors, %d mappings, %d rings", call, e, f.fds, f.maps, Alive()-before)
			}
		}
	}
}

func TestAKernelWithoutWhatIsNeededIsUnsupported(t *testing.T) {
	f := newFake()
	f.features = featNeeded &^ featExtArg
	if _, err := newRing(f, Config{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	g := newFake()
	g.without = map[Op]bool{OpRead: true}
	if _, err := newRing(g, Config{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if f.fds+f.maps+g.fds+g.maps != 0 {
		t.Error("something is left")
	}
}

func TestASignalDuringSetUpChangesNothing(t *testing.T) {
	f := newFake()
	f.fail = func(c string) syscall.Errno {
		if (c == "setup" || c == "register probe") && f.calls[c] < 3 {
			return errINTR
		}
		return 0
	}
	r, err := newRing(f, Config{})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, r, f)
}

// closed closes the ring and looks that nothing is left.
func closed(t *testing.T, r *Ring, f *fake) {
	t.Helper()
	if err := r.Close(-1, nil); err != nil {
		t.Error(err)
	}
	if f.fds != 0 || f.maps != 0 {
		t.Errorf("left %d descriptors and %d mappings", f.fds, f.maps)
	}
}

func TestAFlagThatTheKernelLacksCostsOnlyItself(t *testing.T) {
	config := map[string]Config{"plain": {}, "thread": {Thread: true}}
	for name, c := range config {
		all := wanted(c)
		for lacks := range 1 << len(all) {
			f := newFake()
			want := uint32(0)
			for i, g := range all {
				if lacks>>i&1 == 1 {
					f.refuse |= g
				}
			}
			for _, g := range all {
				if f.refuse&g == 0 {
					want |= g
				}
			}
			r, err := newRing(f, c)
			if err != nil {
				t.Fatal(name, lacks, err)
			}
			i := r.Info()
			if i.Flags != want {
				t.Errorf("%s: flags %#x, want %#x", name, i.Flags, want)
			}
			refused := slices.DeleteFunc(slices.Clone(i.Refused), func(x Refusal) bool { return x.Errno != errINVAL })
			if n := popcount(lacks); len(refused) != n || n > 0 && !strings.Contains(i.String(), "no ") {
				t.Errorf("%s: %d refused, want %d: %v", name, len(refused), n, i)
			}
			if i.Slots+i.Cancels+own > i.CQEntries {
				t.Errorf("%s: %d slots and %d cancellations in a queue of %d", name, i.Slots, i.Cancels, i.CQEntries)
			}
			closed(t, r, f)
		}
	}
}

func popcount(n int) (c int) {
	for ; n > 0; n &= n - 1 {
		c++
	}
	return c
}

func TestARingThatNeedsTooMuchMemoryIsSmaller(t *testing.T) {
	f := newFake()
	f.maxSlots = 64
	r, err := newRing(f, Config{Slots: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if i := r.Info(); i.Slots < 16 || i.CQEntries > 64 || len(i.Refused) == 0 {
		t.Error(i)
	}
	closed(t, r, f)
}

// A kernel may look at the flags first, or at the memory, or at the memory that only some flags need.
func TestMemoryAndFlagsMayBeRefusedInAnyOrder(t *testing.T) {
	all := wanted(Config{})
	for lacks := range 1 << len(all) {
		f := newFake()
		f.maxSlots = 64
		for i, g := range all {
			if lacks>>i&1 == 1 {
				f.refuse |= g
			}
		}
		r, err := newRing(f, Config{Slots: 1000})
		if err != nil {
			t.Fatal(lacks, err)
		}
		if i := r.Info(); i.Slots < 8 || i.CQEntries > 64 || i.Flags&f.refuse != 0 || len(i.Refused) < 1+popcount(lacks) {
			t.Errorf("%b: %v, %v", lacks, i, i.Refused)
		}
		closed(t, r, f)
	}
}

func TestANonsensicalConfigIsRefused(t *testing.T) {
	for _, c := range []Config{{Slots: -1}, {Slots: MaxSlots + 1}, {Entries: -1}, {Entries: maxSQ + 1}} {
		f := newFake()
		if _, err := newRing(f, c); err == nil || f.calls["setup"] > 0 {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Config{{Slots: 1, Entries: 1}, {Slots: MaxSlots}, {Slots: 5, Entries: maxSQ}} {
		f := newFake()
		r, err := newRing(f, c)
		if err != nil || r.Info().Slots != c.Slots {
			t.Fatalf("%+v: %v", c, err)
		}
		closed(t, r, f)
	}
}

func TestWhatCannotBeRegisteredLeavesTheRingAsItWas(t *testing.T) {
	for _, e := range refusals {
		if e == errINTR {
			continue
		}
		f, r := ring(t, Config{Thread: true})
		f.fail = func(c string) syscall.Errno {
			if c == "register buffers" {
				return e
			}
			return 0
		}
		if err := r.RegisterBuffers([][]byte{make([]byte, 10)}); !errors.Is(err, e) || len(r.buffers) > 0 {
			t.Error(err)
		}
		if r.Err() != nil {
			t.Error(r.Err())
		}
		f.fail = nil
		if err := r.RegisterBuffers([][]byte{make([]byte, 10)}); err != nil || len(r.buffers) != 1 {
			t.Error(err)
		}
	}
}

func TestARingThatCannotBeRegisteredWithItsThreadServesAllTheSame(t *testing.T) {
	f := newFake()
	f.fail = func(c string) syscall.Errno {
		if c == "register ring" {
			return errINVAL
		}
		return 0
	}
	r, err := newRing(f, Config{Thread: true})
	if err != nil || r.enterFlags != 0 || len(r.info.Refused) != 1 {
		t.Fatal(err, r)
	}
	closed(t, r, f)
}

// ring returns one on a fake kernel, closed at the end of the test.
func ring(t *testing.T, c Config) (*fake, *Ring) {
	t.Helper()
	f := newFake()
	r, err := newRing(f, c)
	if err != nil {
		t.Fatal(err)
	}
	f.ring = r
	t.Cleanup(func() {
		f.fail = nil
		if r.state != stateClosed {
			closed(t, r, f)
		}
	})
	return f, r
}
