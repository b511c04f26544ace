package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressCountsAndLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		tally := newTally()
		p := newProgress(&screen, tally)
		tally.count(5_000_000)
		tally.read.Add(7_000_000)
		time.Sleep(250 * time.Millisecond)
		p.yield(func() { screen.WriteString("a line\n") })
		time.Sleep(100 * time.Millisecond)
		p.end()
		time.Sleep(time.Second)

		got := screen.String()
		if !strings.Contains(got, "1 files (7.0 MB") {
			t.Errorf("got %q", got)
		}
		before, after, _ := strings.Cut(got, "a line\n")
		for _, text := range []string{before, after} {
			lines := strings.Split(text, "\r")
			if len(lines) < 3 || lines[len(lines)-1] != "" || strings.TrimSpace(lines[len(lines)-2]) != "" {
				t.Errorf("the line is left on the terminal: %q", lines)
			}
		}
	})
}

func TestProgressIsForTerminals(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	auto, always, never := &options{progress: "auto"}, &options{progress: "always"}, &options{progress: "never"}
	if auto.showProgress(file) || auto.showProgress(new(bytes.Buffer)) {
		t.Error("auto: a bar where there is no terminal")
	}
	if !always.showProgress(file) || never.showProgress(file) {
		t.Error("always and never do not do as they say")
	}
	dir := manyFiles(t, 100)
	got := command(t.Context(), nil, "-progress", "always", dir)
	want := command(t.Context(), nil, dir)
	wantStatus(t, got, exitOK)
	same(t, "list", got.out, want.out)
	if want.errors != "" {
		t.Errorf("standard error: %q", want.errors)
	}
}
