package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// progress counts bytes, and shows on a terminal how far the command is. With -verify each
// byte counts twice. Holes do not count.
type progress struct {
	out     io.Writer // nil: nothing is shown
	total   atomic.Int64
	done    atomic.Int64
	started time.Time
	stop    chan struct{}
	ended   chan struct{}

	mu    sync.Mutex // the terminal
	shown bool       // the line is on it
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, started: time.Now(), stop: make(chan struct{}), ended: make(chan struct{})}
	if out == nil {
		close(p.ended)
	} else {
		go p.run()
	}
	return p
}

func (p *progress) add(n int64)    { p.done.Add(n) }
func (p *progress) expect(n int64) { p.total.Add(n) }
func (p *progress) skip(n int64)   { p.total.Add(-n) }

// run draws until end.
func (p *progress) run() {
	defer close(p.ended)
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.draw()
		case <-p.stop:
			p.draw() // what has become of it, also if that was quick
			return
		}
	}
}

func (p *progress) draw() {
	line := progressLine(p.done.Load(), p.total.Load(), time.Since(p.started))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s", line)
}

// progressLine tells how far one is after a time, how fast that was, and how long the rest
// takes at that rate.
func progressLine(done, total int64, took time.Duration) string {
	left, percent := "-", 100.0
	if total > 0 {
		percent = 100 * float64(done) / float64(total)
	}
	if done > 0 {
		rest := time.Duration(float64(took) * float64(max(total-done, 0)) / float64(done))
		left = rest.Round(time.Second).String()
	}
	return fmt.Sprintf("%d of %d bytes, %.0f %%, %s, ETA %s", done, total, percent, rate(done, took), left)
}

// rate is bytes in a time, in the units of disks and of memory.
func rate(n int64, took time.Duration) string {
	perSecond := float64(n) / max(took.Seconds(), 1e-9)
	return fmt.Sprintf("%.1f MB/s (%.1f MiB/s)", perSecond/1e6, perSecond/(1<<20))
}

// yield takes the line off the terminal while f prints something else.
func (p *progress) yield(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
	f()
}

// end draws the line for the last time.
func (p *progress) end() {
	close(p.stop)
	<-p.ended
	if p.shown {
		p.shown = false
		_, _ = io.WriteString(p.out, "\n")
	}
}
