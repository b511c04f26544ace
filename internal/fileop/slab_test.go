package fileop

import "testing"

func TestASlabKnowsThePlaceOfItsBuffers(t *testing.T) {
	memory := make([]byte, 100)
	s := &Slab{memory: memory[10:70], part: 20}
	if parts := s.Parts(); len(parts) != 3 || len(parts[2]) != 20 || &parts[1][0] != &memory[30] {
		t.Errorf("%d parts", len(parts))
	}
	for _, c := range []struct {
		from, to, place int
		ok              bool
	}{
		{10, 30, 0, true}, {15, 16, 0, true}, {30, 50, 1, true}, {69, 70, 2, true},
		{20, 40, 0, false}, {9, 20, 0, false}, {60, 71, 0, false}, {70, 80, 0, false}, {0, 5, 0, false}, {20, 20, 0, false},
	} {
		if place, ok := s.Contains(memory[c.from:c.to]); place != c.place || ok != c.ok {
			t.Errorf("%+v: %d, %v", c, place, ok)
		}
	}
	if _, ok := s.Contains(nil); ok {
		t.Error("nil")
	}
	s.Retire()
	if _, ok := s.Contains(memory[10:30]); ok {
		t.Error("what is there now is not what was registered")
	}
}

func TestASlabDividesNoUnit(t *testing.T) {
	for _, unit := range []int{4096, 3 << 20, 1 << 30} {
		if s := NewSlab(nil, unit); s.part%unit != 0 || s.part > maxPart {
			t.Errorf("%d: %d", unit, s.part)
		}
	}
}
