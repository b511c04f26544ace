package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

const synopsis = "usage: treesum [flags] DIR...\n       treesum [flags] -check FILE\n"

// options is the command line.
type options struct {
	lane     string
	workers  int
	queue    int
	progress string
	check    string // the list to verify; empty: walk roots
	quiet    bool
	stats    bool
	roots    []string
}

func (o *options) define() *flag.FlagSet {
	fs := flag.NewFlagSet("treesum", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run prints errors
	o.lane, o.progress = "threads", "auto"
	fs.StringVar(&o.check, "check", "", "verify the sums listed in `FILE` (- is the standard input)")
	fs.Var(choice{&o.lane, []string{"threads", "sharded", "inline"}}, "lane", "run calls on this `LANE`: threads; sharded, a queue for each processor; or inline,\nwhich has no queue")
	fs.Var(choice{&o.progress, []string{"auto", "always", "never"}}, "progress", "show progress `WHEN`: auto, which is if the standard error is a terminal; always; or never")
	fs.IntVar(&o.queue, "queue", 64, "let `N` files wait for a worker; 0 is none")
	fs.BoolVar(&o.quiet, "quiet", false, "with -check, print no OK for files that match")
	fs.BoolVar(&o.stats, "stats", false, "print statistics to the standard error at the end")
	fs.IntVar(&o.workers, "workers", 0, "run `N` calls at a time; on sharded, N in each shard\n(default: as many in all as there are processors; inline: 1)")
	return fs
}

// parseFlags reads the command line. What the lane has to say about its numbers
// is left to the lane.
func parseFlags(args []string) (*options, error) {
	o := new(options)
	fs := o.define()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	o.roots = fs.Args()
	checking := false
	fs.Visit(func(f *flag.Flag) { checking = checking || f.Name == "check" })
	switch {
	case checking && o.check == "":
		return nil, errors.New("-check needs the name of a file, or -")
	case checking && len(o.roots) > 0:
		return nil, fmt.Errorf("-check takes no directories: %q", o.roots[0])
	case !checking && o.quiet:
		return nil, errors.New("-quiet is for -check only")
	case !checking && len(o.roots) == 0:
		return nil, errors.New("no directory given")
	}
	return o, nil
}

// usage is the text for -help.
func usage() string {
	var text bytes.Buffer
	text.WriteString(synopsis)
	fs := new(options).define()
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return text.String()
}

// choice is a flag with a few possible values.
type choice struct {
	value *string
	among []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Set(s string) error {
	if !slices.Contains(c.among, s) {
		return fmt.Errorf("want one of %s", strings.Join(c.among, ", "))
	}
	*c.value = s
	return nil
}

// showProgress decides whether there is to be a progress bar.
func (o *options) showProgress(stderr io.Writer) bool {
	if o.progress != "auto" {
		return o.progress == "always"
	}
	f, ok := stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
