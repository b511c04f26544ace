package uring

import (
	"syscall"
	"testing"
)

// watch notes for each enter whether the runtime was told.
type watch struct {
	*fake

	quick []bool
}

func (w *watch) enter(fd int, submit, wait, flags uint32, arg *extArg, quick bool) (int, syscall.Errno) {
	w.quick = append(w.quick, quick)
	return w.fake.enter(fd, submit, wait, flags, arg, quick)
}

func TestTheRuntimeIsToldOfWhateverMayTakeLong(t *testing.T) {
	w := &watch{fake: newFake()}
	r, err := newRing(w, Config{})
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	reads := func(n int) func() {
		return func() {
			for range n {
				s, _ := r.Take()
				r.Read(s, 3, block, 0)
			}
		}
	}
	for _, c := range []struct {
		what     string
		describe func()
		wait     int
		quick    bool
	}{
		{"no-ops", func() { nops(t, r, 100) }, 0, true},
		{"a wait", func() { nops(t, r, 1) }, 1, false},
		{"a few blocks", reads(16), 0, true},
		{"many blocks", reads(17), 0, false},
		{"a large one", func() { s, _ := r.Take(); r.Write(s, 3, make([]byte, 1<<20), 0) }, 0, false},
		{"pieces", func() { s, _ := r.Take(); r.Readv(s, 3, Pieces(nil, block), 0) }, 0, false},
		{"no-ops once more", func() { nops(t, r, 100) }, 0, true},
	} {
		c.describe()
		w.quick = nil
		if err := r.Enter(All, c.wait, -1); err != nil {
			t.Fatal(err)
		}
		if len(w.quick) != 1 || w.quick[0] != c.quick {
			t.Errorf("%s: %v, want %v", c.what, w.quick, c.quick)
		}
		r.Reap(nil)
	}
	closed(t, r, w.fake)
}
