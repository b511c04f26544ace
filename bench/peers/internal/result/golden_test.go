package result

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func load(t *testing.T) *File {
	t.Helper()
	f, err := Load(filepath.Join("testdata", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// golden compares with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (see go test -update):\n%s", name, got)
	}
}

func TestTableIsWhatItWas(t *testing.T) {
	var b bytes.Buffer
	if err := load(t).Table(&b, []string{"bare", "iolane"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.md", b.Bytes())
}

func TestCheckIsWhatItWas(t *testing.T) {
	all := append(slices.Concat(dispatchTargets()[:6], crowdTargets()[4:7]),
		Target{Row: "a ring, empty call", Shape: "dispatch", Peer: "iolane-ring", Metric: Time, Max: 1.1, Than: than("bare"), Waits: "there is none"})
	var b bytes.Buffer
	ok, err := load(t).Check(&b, all)
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		t.Error("a miss and what was not measured pass for met")
	}
	golden(t, "check.txt", b.Bytes())
}
