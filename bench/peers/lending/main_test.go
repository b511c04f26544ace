package main

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Everything works, with as few borrowings as possible.
func TestASmallRun(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-rounds", "1", "-time", "2ms", "-sizes", "2", "-clients", "1,5"}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2+4 {
		t.Errorf("%q", out.String())
	}
}

// Each of those that are compared lends so many at a time, and no more, to one user each.
func TestAllDoTheSame(t *testing.T) {
	for _, m := range makers(0) {
		l, err := m.make(3)
		if err != nil {
			t.Fatal(m.name, err)
		}
		var users, most atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 100 {
					if err := l.with(context.Background(), func(_ context.Context, c *conn) error {
						n := users.Add(1)
						for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
						}
						c.uses++
						users.Add(-1)
						return nil
					}); err != nil {
						t.Error(m.name, err)
					}
				}
			})
		}
		all.Wait()
		if most.Load() > 3 {
			t.Error(m.name, "lends", most.Load())
		}
		if err := l.close(); err != nil {
			t.Error(m.name, err)
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-time", "0"}, {"-work", "-1"}, {"-sizes", "x"}, {"-clients", "0"}} {
		err := run(args, new(strings.Builder))
		if err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
