package registry_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// compare looks at everything that can be seen of the registry.
func (s *simulation) compare() {
	for _, c := range s.callers {
		if !c.seen {
			s.compareCaller(c)
		}
	}
	for _, e := range s.spec.entries {
		s.compareEntry(e)
	}
	got, want := s.reg.Stats(), s.spec.stats()
	if got != want || len(s.reg.Retiring()) != want.Retiring {
		s.t.Errorf("stats %+v, want %+v", got, want)
	}
	if want == (registry.Stats{}) {
		for _, w := range s.watchers {
			if !w.done || !w.empty {
				s.t.Errorf("WaitEmpty: done %t, %t although it is empty", w.done, w.empty)
			}
		}
		s.watchers = nil
	}
	for _, w := range s.watchers {
		if w.done {
			s.t.Errorf("WaitEmpty: %t although there are %+v", w.empty, want)
		}
	}
}

func (s *simulation) compareCaller(c *caller) {
	want, answered := s.spec.answers[c.number]
	switch {
	case c.done != answered:
		s.t.Errorf("caller %d: has an answer %t (%v), want %t (%v)", c.number, c.done, c.err, answered, want)
	case !errors.Is(c.err, want):
		s.t.Errorf("caller %d: %v, want %v", c.number, c.err, want)
	}
	if !c.done {
		return
	}
	c.seen = true
	c.cancel()
	if c.err != nil {
		return
	}
	if i := slices.IndexFunc(s.spec.entries, func(e *specEntry) bool { return e.holder == c.number }); i != c.lease.Resource {
		s.t.Errorf("caller %d was lent %d, want %d", c.number, c.lease.Resource, i)
	}
	s.leases = append(s.leases, c)
}

func (s *simulation) compareEntry(e *specEntry) {
	if got, want := s.reg.Has(e.id), !e.gone && !e.opening; got != want {
		s.t.Errorf("Has(%v) = %t, want %t", e.id, got, want)
	}
	x, err := s.reg.Held(e.id)
	want := ioerr.ErrHandleNotFound
	if s.spec.closed {
		want = ioerr.ErrShutdown
	}
	if e.gone {
		if x != nil || !errors.Is(err, want) {
			s.t.Errorf("Held(%v) = %v, %v, want %v", e.id, x, err, want)
		}
		return
	}
	if err != nil || x.Held() != (e.holder != 0) {
		s.t.Errorf("Held(%v) = %v, %v, want held %t", e.id, x, err, e.holder != 0)
	}
}

// end gives everything back, after which nothing may be left.
func (s *simulation) end() {
	s.close()
	synctest.Wait()
	s.compare()
	for len(s.openings) > 0 {
		s.finish(s.openings[0], len(s.openings)%2 == 0)
	}
	for len(s.leases) > 0 {
		s.release(s.leases[0])
	}
	for len(s.orphans) > 0 {
		s.dispose(s.orphans[0])
	}
	if got := s.reg.Stats(); got != (registry.Stats{}) {
		s.t.Errorf("left over: %+v", got)
	}
}

// Law: whatever is done to a registry, one operation after another, it does what
// its spec does.
func TestRegistryDoesWhatItsSpecDoes(t *testing.T) {
	var seed uint64
	defer func() { // simulate ends the test
		if t.Failed() {
			t.Logf("seed %#x", seed)
		}
	}()
	for range 150 {
		seed = rand.Uint64()
		simulate(t, randomScript(seed, 150))
	}
}

func randomScript(seed uint64, ops int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	script := make([]byte, 2+2*ops)
	for i := range script {
		script[i] = byte(r.Uint32())
	}
	return script
}

func FuzzRegistry(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(randomScript(seed, 40))
	}
	f.Fuzz(simulate)
}
