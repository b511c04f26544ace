package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

const longListFiles = 600

// longList is a tree whose list is longer than what a pipe, the buffer and the
// window take together.
func longList(t *testing.T) string {
	t.Helper()
	return sharedTree(t, "long", func(dir string) {
		for i := range longListFiles {
			write(t, fmt.Sprintf("%s/%d/%0250d", dir, i%10, i), fmt.Sprint(i))
		}
	})
}

// TestAnInterruptStartsNoMoreFilesAndSaysWhatWasDone interrupts a run whose
// reader is slow: the command cannot get further ahead of it than its buffer and
// its window reach.
func TestAnInterruptStartsNoMoreFilesAndSaysWhatWasDone(t *testing.T) {
	dir := longList(t)
	for _, name := range []string{"threads", "sharded", "inline"} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		var errs bytes.Buffer
		status := make(chan int)
		go func() {
			defer w.Close()
			status <- run(ctx, []string{"-lane", name, dir}, nil, w, &errs)
		}()
		lines := bufio.NewScanner(r)
		n := 0
		for n < 10 && lines.Scan() {
			n++
		}
		cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for lines.Scan() {
				n++
			}
		}()
		got := <-status
		<-done
		if got != exitInterrupted {
			t.Errorf("%s: status %d, want 130", name, got)
		}
		want := fmt.Sprintf("treesum: interrupted: %d files, ", n)
		if !strings.HasPrefix(errs.String(), want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: got %q, want %q", name, errs.String(), want)
		}
		if n >= longListFiles {
			t.Errorf("%s: all files were hashed, although nobody read the lines", name)
		}
	}
}

func TestAnInterruptEndsACheckWhoseListSaysNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	result := make(chan outcome)
	go func() { result <- command(ctx, r, "-check", "-") }()
	if _, err := io.WriteString(w, "not an entry\n"); err != nil { // it reads now
		t.Fatal(err)
	}
	cancel()
	got := <-result
	if got.status != exitInterrupted || !strings.HasSuffix(got.errors, "treesum: interrupted: 0 files, 0 bytes hashed\n") {
		t.Errorf("got %+v", got)
	}
	w.Close() // ends the goroutine that was left behind
}

func TestAReaderThatGoesAwayEndsTheCommandQuietly(t *testing.T) {
	dir := longList(t)
	list := command(t.Context(), nil, dir).out
	for _, args := range [][]string{{dir}, {"-lane", "inline", dir}, {"-check", "-"}} {
		r, w := io.Pipe()
		var errs bytes.Buffer
		status := make(chan int)
		go func() { status <- run(t.Context(), args, strings.NewReader(list), w, &errs) }()
		if _, err := r.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if got := <-status; got != exitPipe || errs.Len() != 0 {
			t.Errorf("%v: status %d, %q", args, got, &errs)
		}
	}
}

func TestAFullDiskIsReported(t *testing.T) {
	dir := manyFiles(t, 10)
	var errs bytes.Buffer
	status := run(t.Context(), []string{dir}, nil, fullWriter{}, &errs)
	if status != exitFailed || errs.String() != "treesum: standard output: disk full\n" {
		t.Errorf("status %d, %q", status, &errs)
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestStatisticsArePrintedOnRequest(t *testing.T) {
	dir := manyFiles(t, 10)
	got := command(t.Context(), nil, "-stats", "-workers", "1", dir)
	wantStatus(t, got, exitOK)
	if !strings.HasPrefix(got.errors, "treesum: 10 files, 10 bytes in ") || !strings.Contains(got.errors, "lane threads: ") {
		t.Errorf("got %s", got.errors)
	}
}
