package handle_test

import (
	"testing"

	"github.com/iolane/iolane/handle"
)

// Whatever Parse takes, String gives back, letter by letter: an ID has one text.
func FuzzParse(f *testing.F) {
	for _, id := range edgeIDs() {
		f.Add(id.String())
	}
	for _, text := range nearMisses {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := handle.Parse(text)
		if err != nil {
			if !id.IsZero() {
				t.Errorf("Parse(%q) = %v together with %v", text, id, err)
			}
			return
		}
		if got := id.String(); got != text {
			t.Errorf("Parse took %q, whose text is %q", text, got)
		}
	})
}

// Any three parts make an ID that both of its forms give back.
func FuzzUint64(f *testing.F) {
	for _, id := range edgeIDs() {
		f.Add(id.Scope(), id.Slot(), id.Generation())
	}
	f.Fuzz(func(t *testing.T, scope uint64, slot, gen uint32) {
		id := handle.Make(scope, slot, gen)
		u := id.Uint64()
		if got, want := u, uint64(slot)*(1<<32)+uint64(gen); got != want {
			t.Errorf("Uint64 of %v = %d, want %d", id, got, want)
		}
		want := id
		if u == 0 {
			want = handle.ID{} // slot and generation zero: no pool's
		}
		if got := handle.FromUint64(scope, u); got != want {
			t.Errorf("FromUint64(%#x, %d) = %v, want %v", scope, u, got, want)
		}
		if got, err := handle.Parse(id.String()); got != id || err != nil {
			t.Errorf("Parse(%q) = %v, %v", id, got, err)
		}
	})
}
