package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far the command is: files, bytes and bytes per second. How
// much there is to do is not known before the end of the walk, so there is no
// bar that fills. A nil progress shows nothing.
type progress struct {
	tally *tally
	stop  chan struct{}
	ended chan struct{}

	mu    sync.Mutex // the terminal
	bar   *progressbar.ProgressBar
	shown bool // the line is on the terminal
}

func newProgress(w io.Writer, t *tally) *progress {
	p := &progress{
		tally: t,
		stop:  make(chan struct{}),
		ended: make(chan struct{}),
		bar: progressbar.NewOptions64(-1,
			// Not the writer itself, which the bar would sync if it were a file.
			progressbar.OptionSetWriter(struct{ io.Writer }{w}),
			progressbar.OptionSetSpinnerChangeInterval(0), // drawn by run
			progressbar.OptionShowBytes(true),             // and bytes per second
			progressbar.OptionShowCount(),
		),
	}
	p.bar.StartWithoutRender()
	go p.run()
	return p
}

// run draws until end.
func (p *progress) run() {
	defer close(p.ended)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.draw()
		case <-p.stop:
			return
		}
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Describe(fmt.Sprintf("%d files", p.tally.files.Load()))
	p.shown = true
	_ = p.bar.Add64(p.tally.read.Load() - int64(p.bar.State().CurrentBytes))
}

// yield takes the line off the terminal while f prints something else.
func (p *progress) yield(f func()) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.shown {
			p.shown = false
			_ = p.bar.Clear()
		}
	}
	f()
}

// end takes the line off the terminal for good.
func (p *progress) end() {
	if p != nil {
		close(p.stop)
		<-p.ended
		p.yield(func() {})
	}
}
