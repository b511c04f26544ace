package result

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Table writes Markdown: on which machine, an overview with one row for each
// shape, and one table for each group of shapes with everything that was measured.
// In these, the time of each peer is set against the peers named.
func (f *File) Table(w io.Writer, against []string) error {
	var b strings.Builder
	f.machine(&b)
	f.overview(&b)
	var groups []string
	for _, s := range f.Shapes {
		if !slices.Contains(groups, s.Group) {
			groups = append(groups, s.Group)
		}
	}
	for _, group := range groups {
		f.group(&b, group, against)
	}
	f.legend(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (f *File) machine(b *strings.Builder) {
	for i, r := range f.Runs {
		if !slices.ContainsFunc(f.Shapes, func(s Shape) bool { return s.Run == i }) {
			continue
		}
		fmt.Fprintf(b, "%s, %d CPUs, GOMAXPROCS %d, %s, %s", r.CPU, r.CPUs, r.Procs, r.Kernel, r.Go)
		if r.Commit != "" {
			fmt.Fprintf(b, ", commit %s", r.Commit)
		}
		fmt.Fprintf(b, ", %s; load %s.\n`%s`\n\n", r.Started.UTC().Format(time.DateOnly),
			strings.Join(r.Load, " before and "), strings.Join(r.Command, " "))
		var modules []string
		for path, version := range r.Modules {
			modules = append(modules, path+" "+version)
		}
		if len(modules) > 0 {
			slices.Sort(modules)
			fmt.Fprintf(b, "Measured: %s.\n\n", strings.Join(modules, ", "))
		}
	}
}

// row writes a row of a table.
func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func head(b *strings.Builder, cells ...string) {
	row(b, cells...)
	rule := make([]string, len(cells))
	for i := range rule {
		rule[i] = "---"
	}
	row(b, rule...)
}

func (f *File) overview(b *strings.Builder) {
	b.WriteString("## Overview\n\nTime for each call (p99 in brackets), medians; ratio: the best bounded peer's time over ours, paired.\n\n")
	head(b, "shape", "ideal", "bare", "iolane", "iolane-strict", "best bounded peer", "ratio", "best worker pool", "ratio")
	for _, s := range f.Shapes {
		ideal := ""
		if s.Ideal > 0 {
			ideal = duration(s.Ideal)
		}
		cells := []string{s.Name, ideal, f.timeAndTail(s.Name, "bare"), f.timeAndTail(s.Name, "iolane"), f.timeAndTail(s.Name, "iolane-strict")}
		for _, class := range []Class{BoundedPeers, WorkerPools} {
			best, _ := f.Best(s.Name, class)
			named := ""
			if best != "" {
				named = best + " " + f.timeAndTail(s.Name, best)
			}
			cells = append(cells, named, f.ratio(Point{s.Name, best}, Point{s.Name, "iolane"}))
		}
		row(b, cells...)
	}
	b.WriteByte('\n')
}

func (f *File) timeAndTail(shape, peer string) string {
	t, ok := f.Median(Point{shape, peer}, Time)
	if !ok {
		return ""
	}
	p99, _ := f.Median(Point{shape, peer}, P99)
	return fmt.Sprintf("%s (%s)", duration(t), duration(p99))
}

func (f *File) ratio(a, b Point) string {
	r, ok := f.Ratio(a, b, Time)
	if !ok {
		return ""
	}
	return three(r.Median)
}

func (f *File) group(b *strings.Builder, group string, against []string) {
	fmt.Fprintf(b, "## %s\n\n", group)
	for _, s := range f.Shapes {
		if s.Group == group {
			fmt.Fprintf(b, "* `%s`: %s", s.Name, s.About)
			if s.Ideal > 0 {
				fmt.Fprintf(b, "; ideal %s", duration(s.Ideal))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteByte('\n')
	cells := []string{"shape", "peer", "time"}
	for _, name := range against {
		cells = append(cells, "/ "+name)
	}
	head(b, append(cells, "efficiency", "p50", "p95", "p99", "max", "CPU", "allocs", "bytes", "goroutines", "threads")...)
	for _, s := range f.Shapes {
		if s.Group != group {
			continue
		}
		name := "`" + s.Name + "`" // once
		for _, p := range f.Peers {
			if cells := f.cells(s, p, against); cells != nil {
				row(b, append([]string{name}, cells...)...)
				name = ""
			}
		}
	}
	for _, x := range f.Failures {
		if slices.ContainsFunc(f.Shapes, func(s Shape) bool { return s.Name == x.Shape && s.Group == group }) {
			fmt.Fprintf(b, "\n%s, %s, round %d: %s\n", x.Shape, x.Peer, x.Round, strings.ReplaceAll(x.Text, "\n", " "))
		}
	}
	b.WriteByte('\n')
}

// cells are those of one peer at one shape, after the name of the shape; nil if it
// was not measured.
func (f *File) cells(s Shape, p Peer, against []string) []string {
	at := Point{s.Name, p.Name}
	t, ok := f.Median(at, Time)
	if !ok {
		return nil
	}
	name := p.Name
	if p.Ours {
		name = "**" + name + "**"
	}
	cells := []string{name, duration(t)}
	for _, other := range against {
		cells = append(cells, f.ratio(at, Point{s.Name, other}))
	}
	efficiency := ""
	if e, ok := f.Efficiency(s, p.Name); ok {
		efficiency = three(e)
	}
	cells = append(cells, efficiency)
	for _, m := range []Metric{P50, P95, P99, Max, CPU} {
		v, _ := f.Median(at, m)
		cells = append(cells, duration(v))
	}
	for _, m := range []Metric{Allocs, Bytes, Goroutines, Threads} {
		v, _ := f.Median(at, m)
		cells = append(cells, count(v))
	}
	return cells
}

func (f *File) legend(b *strings.Builder) {
	b.WriteString("## Peers\n\n")
	head(b, "peer", "what it is", "bounded", "runs the call")
	for _, p := range f.Peers {
		bounded := "no"
		if p.Bounded {
			bounded = "yes"
		}
		row(b, p.Name, p.About, bounded, p.Kind)
	}
}
