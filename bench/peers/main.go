package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/result"
	"github.com/iolane/iolane/bench/peers/internal/shape"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("not all targets are met")

// options are the flags.
type options struct {
	shapes, peers string
	rounds        int
	out, lock     string
	add, list     bool
	procs         int
	against       string

	table, svg, check string // files to read

	child string // a shape and a peer: measure these, here and now, and nothing else
	round int
	env   shape.Env
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.shapes, "shapes", "*", "`names` or groups of shapes, separated by commas; * stands for anything")
	f.StringVar(&o.peers, "peers", "*", "`names` of peers, likewise")
	f.IntVar(&o.rounds, "rounds", 5, "how often each peer is measured")
	f.StringVar(&o.out, "out", "results.json", "`file` for the results")
	f.BoolVar(&o.add, "add", false, "keep what is in the file, but for the shapes that are measured now")
	f.StringVar(&o.lock, "lock", "", "`file` to lock while measuring, so that others who lock it wait")
	f.DurationVar(&o.env.Budget, "time", 250*time.Millisecond, "how long each part of a measurement takes, about")
	f.StringVar(&o.env.Dir, "dir", "", "`folder` for files that are read and synced (default: the system's for temporary files)")
	f.IntVar(&o.procs, "procs", 0, "GOMAXPROCS of the measurements (default: the runtime's choice)")
	f.Float64Var(&o.env.Steps, "steps", 0, "steps of the work loop for a microsecond (default: measured)")
	f.BoolVar(&o.env.Tiny, "tiny", false, "as few calls as possible: to see that everything works")
	f.BoolVar(&o.list, "list", false, "print the shapes and the peers")
	f.StringVar(&o.table, "table", "", "print tables of the results in this `file`")
	f.StringVar(&o.against, "against", "bare,iolane", "`names` of peers that -table sets times against")
	f.StringVar(&o.svg, "svg", "", "draw the results in this `file`")
	f.StringVar(&o.check, "check", "", "compare the results in this `file` with the targets")
	f.StringVar(&o.child, "child", "", "measure `shape/peer` in this process and print a sample; used by the command itself")
	f.IntVar(&o.round, "round", 0, "with -child: the number of the round")
	if err := f.Parse(args); err != nil {
		return o, errors.Join(flag.ErrHelp, err)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("what is %q for?", f.Arg(0))
	}
	if o.rounds < 1 {
		return o, errors.New("-rounds must be at least 1")
	}
	return o, nil
}

func run(args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.procs > 0 {
		runtime.GOMAXPROCS(o.procs)
	}
	switch {
	case o.child != "":
		return child(o, stdout)
	case o.list:
		return list(o, stdout)
	case o.table != "":
		return show(o, o.table, func(f *result.File) error { return f.Table(stdout, strings.Split(o.against, ",")) })
	case o.svg != "":
		return show(o, o.svg, func(f *result.File) error { return f.SVG(stdout) })
	case o.check != "":
		return show(o, o.check, func(f *result.File) error {
			ok, err := f.Check(stdout, targets(o))
			if err == nil && !ok {
				err = errMissed
			}
			return err
		})
	}
	return measure(o, stderr)
}

// show reads a file and does something with those of its results that were asked
// for.
func show(o options, name string, do func(*result.File) error) error {
	f, err := result.Load(name)
	if err != nil {
		return err
	}
	f.Keep(wanted(o.shapes), wanted(o.peers))
	return do(f)
}

// targets are those of the shapes that were asked for.
func targets(o options) []result.Target {
	is := wanted(o.shapes)
	group := make(map[string]string)
	for _, s := range shape.All() {
		group[s.Name] = s.Group
	}
	return slices.DeleteFunc(result.Targets(), func(t result.Target) bool { return !is(t.Shape) && !is(group[t.Shape]) })
}

// child measures one peer at one shape.
func child(o options, stdout io.Writer) error {
	shapeName, peerName, _ := strings.Cut(o.child, "/")
	for _, s := range shape.All() {
		if s.Name != shapeName {
			continue
		}
		for _, mk := range peer.All() {
			if mk.Name != peerName {
				continue
			}
			sample, err := s.Measure(o.env, mk)
			if err != nil {
				return err
			}
			sample.Round = o.round
			return json.NewEncoder(stdout).Encode(sample)
		}
	}
	return fmt.Errorf("there is no %q", o.child)
}

// list prints the shapes with the number of peers that they fit, and the peers.
func list(o options, stdout io.Writer) error {
	shapes, peers, err := choose(o)
	if err != nil {
		return err
	}
	var b strings.Builder
	group := ""
	for _, s := range shapes {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "%s\n", group)
		}
		fmt.Fprintf(&b, "  %-15s %s (%d peers)\n", s.Name, s.About, len(fitting(s, peers)))
	}
	b.WriteString("peers\n")
	for _, mk := range peers {
		fmt.Fprintf(&b, "  %-20s %s\n", mk.Name, mk.About)
	}
	_, err = io.WriteString(stdout, b.String())
	return err
}
