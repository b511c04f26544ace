package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// clutter is a tree with directories of many sizes.
func clutter(t *testing.T) (dir string, paths []string) {
	t.Helper()
	made := false
	dir = sharedTree(t, "clutter", func(string) { made = true })
	for i, n := range []int{0, 1, 3, 40, 300, 900} {
		for j := range n {
			h := uint32(j) * 2654435761
			path := fmt.Sprintf("%s/%d/%x%s", dir, i, h, strings.Repeat("-", int(h%7)))
			if j%20 == 19 {
				path += fmt.Sprintf("/below/%d", j)
			}
			if made {
				write(t, path, "")
			}
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	slices.Sort(paths)
	return filepath.ToSlash(dir), paths
}

func TestAWalkIsCompleteAndInOrderHoweverFewNamesItMayHold(t *testing.T) {
	dir, want := clutter(t)
	files, err := pool.New(pool.Config[noResource]{Lane: lane.NewInline("")})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, bounds := range [][2]int{{maxNames, minPart}, {4000, 500}, {100, 100}, {0, 0}} {
		if testing.Short() && bounds[0] == 0 {
			continue
		}
		w := &walker{files: files, maxNames: bounds[0], minPart: bounds[1]}
		var got []string
		held := 0
		for f := range w.walk(t.Context(), []string{dir}) {
			if f.err != nil {
				t.Fatal(f.err)
			}
			got = append(got, f.path)
			held = max(held, w.held)
		}
		if !slices.Equal(got, want) {
			t.Errorf("bounds %v: %d files, want %d", bounds, len(got), len(want))
		}
		const oneName, levels = 100, 5
		if most := bounds[0] + levels*(bounds[1]+oneName); held > most {
			t.Errorf("bounds %v: held %d bytes, want at most %d", bounds, held, most)
		}
		if w.held != 0 {
			t.Errorf("bounds %v: holds %d bytes at the end", bounds, w.held)
		}
	}
}

func TestAPartHoldsNoMoreThanItMayWhileItIsRead(t *testing.T) {
	dir := sharedTree(t, "flat", func(dir string) {
		for i := range 1500 {
			write(t, fmt.Sprintf("%s/%04d", dir, i), "")
		}
	})
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := readPart(t.Context(), f, "0999", 10*(4+nameCost))
	if len(p.names) != 10 || p.names[0] != "1000" || p.last != "1009" || !p.more || p.err != nil {
		t.Errorf("got %+v", p)
	}
	if c := cap(p.names); c > 64 {
		t.Errorf("room for %d names was made to keep 10", c)
	}
}
