// Package contender is the ways to do file operations that are measured beside each
// other. All stand behind one function, [Contender.Measure].
package contender

import (
	"context"
	"os"

	"github.com/iolane/iolane/bench/fileio/internal/result"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// Contender is one way to do file operations.
type Contender struct {
	Name, About string
	// Missing says why it cannot be measured at all on this machine.
	Missing func() error
	// Unfit says why it cannot be measured at a case; empty: it can.
	Unfit func(work.Case) string
	// Measure measures a case, in this process. Sequential cases give two samples.
	Measure func(context.Context, Job) ([]result.Sample, error)
}

// Job is what is to be measured, and where.
type Job struct {
	Case  work.Case
	File  string // with the data of work.Pattern; for a sequential case: a device, or not there yet
	Huge  bool   // buffers on huge pages
	Timed bool   // the check of every word is part of the time of a sequential read
}

// All are the contenders, those from elsewhere first.
func All() []Contender {
	all := []Contender{fioPlain(), fioBest()}
	for _, m := range makers() {
		all = append(all, m.contender())
	}
	return all
}

func makers() []maker {
	return []maker{
		osMaker(), preadMaker(), preadFreeMaker(), afterFuncMaker(), bareMaker(),
		threadsMaker(), abandoningMaker(), pinnedMaker(),
		ringGoroutineMaker(), ringFiberMaker(), ringBatchMaker(),
	}
}

// setup is what an engine is made from.
type setup struct {
	work.Case
	File *os.File // nil where the case has none
	Huge bool
}

// engine does operations.
type engine interface {
	// Buffers makes n buffers of so many bytes.
	Buffers(n, size int) (work.Buffers, error)
	// Run does the operations of the source until it has no more, between its Start and its
	// End.
	Run(ctx context.Context, src *work.Source) error
	Close() error
}

// maker makes engines.
type maker struct {
	name, about string
	missing     func() error
	unfit       func(work.Case) string
	slots       func(work.Case) int // of the source; nil: as many as callers
	untimed     bool                // nobody sees how long one operation takes
	make        func(setup) (engine, error)
}

func (m maker) contender() Contender {
	c := Contender{Name: m.name, About: m.about, Missing: m.missing, Unfit: m.unfit, Measure: m.measure}
	if c.Missing == nil {
		c.Missing = func() error { return nil }
	}
	return c
}

// mapped makes the buffers of most engines.
type mapped struct{ huge bool }

// Buffers implements engine.
func (m mapped) Buffers(n, size int) (work.Buffers, error) { return work.MapBuffers(n, size, m.huge) }

// transfersOnly is unfit of those who know reads and writes only.
func transfersOnly(c work.Case) string {
	if c.Kind == work.Read || c.Kind == work.Write {
		return ""
	}
	return "knows reads and writes only"
}

// noSleeps is unfit of those who block a thread for each operation.
func noSleeps(c work.Case) string {
	if c.Kind == work.Sleep {
		return "a thread for each sleeper"
	}
	return ""
}

func anyCase(work.Case) string { return "" }
