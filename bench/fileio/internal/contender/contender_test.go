package contender

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// withReasons is all makers; those that cannot be had here say that they suit no case.
func withReasons(t *testing.T) []maker {
	t.Helper()
	all := makers()
	for i := range all {
		m := &all[i]
		if m.missing == nil {
			continue
		}
		if err := m.missing(); err != nil {
			t.Log(m.name, err)
			m.unfit = func(work.Case) string { return "is not here" }
		}
	}
	return all
}

// folder is one whose files may be opened for direct transfers.
func folder(t *testing.T) string {
	t.Helper()
	if err := system.Supported(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	f, err := os.OpenFile(filepath.Join(dir, "try"), os.O_CREATE|os.O_RDWR|system.Direct, 0o600)
	if err != nil {
		t.Skip("no direct transfers: ", err)
	}
	f.Close()
	return dir
}

func dataFile(t *testing.T, size int) string {
	t.Helper()
	name := filepath.Join(folder(t), "data")
	buf := make([]byte, size)
	work.NewPattern().Fill(buf, 0)
	if err := os.WriteFile(name, buf, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestEveryContenderWorksAtEveryCaseThatItFits(t *testing.T) {
	name := dataFile(t, 1<<20)
	params := work.Params{Size: 1 << 20, Time: time.Millisecond, Depths: []int{3}, Quick: true}
	for _, m := range withReasons(t) {
		for _, shape := range work.Shapes() {
			for _, c := range work.Cases(shape, params) {
				if m.unfit(c) != "" {
					continue
				}
				j := Job{Case: c, File: name}
				if c.Sequential {
					j.File += "-sequential"
				}
				samples, err := m.measure(t.Context(), j)
				if err != nil {
					t.Errorf("%s at %s: %v", m.name, c.Name, err)
					continue
				}
				for _, s := range samples {
					if s.Ops <= 0 || s.Elapsed <= 0 || s.Contender != m.name || c.Sequential && s.Bytes != 1<<20 {
						t.Errorf("%s at %s: %+v", m.name, c.Name, s)
					}
				}
				if c.Sequential && len(samples) != 2 {
					t.Errorf("%s at %s: %d samples", m.name, c.Name, len(samples))
				}
			}
		}
	}
	if _, err := os.Stat(name + "-sequential"); !os.IsNotExist(err) {
		t.Errorf("a sequential case leaves its file: %v", err)
	}
}

func TestEveryContenderFindsAFlippedBit(t *testing.T) {
	const size, at = 1 << 20, 700_003
	name := dataFile(t, size)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	c := work.Cases("seq", work.Params{Size: size, Quick: true})[0]
	c.Kind = work.Read
	for _, m := range withReasons(t) {
		if m.unfit(c) != "" {
			continue
		}
		_, err := m.open(t.Context(), Job{Case: c, File: name}, os.O_RDONLY, true)
		if err == nil || !strings.Contains(err.Error(), "wrong data at offset 700000:") {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestACaseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := work.Cases("nop", work.Params{Time: time.Hour, Depths: []int{2}})[0]
	if _, err := threadsMaker().measure(ctx, Job{Case: c}); err == nil {
		t.Error("no error")
	}
}

func TestEveryContenderSaysWhatItIs(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range All() {
		if c.Name == "" || c.About == "" || names[c.Name] {
			t.Errorf("%q: %q", c.Name, c.About)
		}
		names[c.Name] = true
	}
}
