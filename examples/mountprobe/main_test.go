package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	child()
	goleak.VerifyTestMain(m)
}

// A dead file system is reported as hung, with its age, round after round; it costs one
// call, the others are asked as always, and it recovers by itself.
func TestADeadFileSystemHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := make(chan struct{})
		var mu sync.Mutex
		asked := map[string]int{}
		ask := func(path string) error {
			mu.Lock()
			asked[path]++
			mu.Unlock()
			switch path {
			case "/dead":
				<-dead
			case "/slow":
				time.Sleep(900 * time.Millisecond)
			case "/gone":
				return fs.ErrNotExist
			}
			return nil
		}
		paths := []string{"/a", "/dead", "/slow", "/gone"}
		p, err := newProber(time.Second, len(paths), ask)
		if err != nil {
			t.Fatal(err)
		}
		check := func(want ...report) {
			t.Helper()
			began := time.Now()
			got := p.round(t.Context(), paths)
			if d := time.Since(began); d > time.Second {
				t.Errorf("the round took %v", d)
			}
			for i, r := range got {
				w := want[i]
				if r.path != paths[i] || r.state != w.state || r.took != w.took || !errors.Is(r.err, w.err) {
					t.Errorf("%v, want %v", r, w)
				}
			}
		}
		ok, slow, gone := report{state: stateOK}, report{state: stateOK, took: 900 * time.Millisecond}, report{state: stateError, err: fs.ErrNotExist}
		check(ok, report{state: stateHung, took: time.Second}, slow, gone)
		time.Sleep(time.Hour - 900*time.Millisecond)
		check(ok, report{state: stateHung, took: time.Hour + 100*time.Millisecond}, slow, gone)
		if asked["/dead"] != 1 || asked["/a"] != 2 {
			t.Errorf("asked %v", asked)
		}
		close(dead)
		synctest.Wait()
		check(ok, ok, slow, gone)
		if err := p.calls.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOneRoundSaysWhetherAllIsWell(t *testing.T) {
	for want, answer := range map[error]error{nil: nil, errNotOK: fs.ErrPermission} {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-once", "/a b"}, &out, func(string) error { return answer })
		if !errors.Is(err, want) || !strings.Contains(out.String(), "/a b") {
			t.Errorf("%v, %q", err, out.String())
		}
	}
}

// The end of the program's context ends it between two rounds.
func TestTheProgramEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, []string{"/a"}, &out, func(string) error { return nil }); err != nil {
		t.Error(err)
	}
}
