package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
)

const synopsis = "usage: fcopy [flags] SRC DST\n"

// options is the command line.
type options struct {
	lane     string
	depth    int
	block    size
	direct   bool
	verify   bool
	sparse   string
	progress string
	tree     bool // -r
	preserve bool // -p
	stats    bool
	src, dst string
}

// align is what blocks are a multiple of, and the memory of buffers: what nearly all
// devices want for direct I/O.
const align = 4096

func (o *options) define() *flag.FlagSet {
	fs := flag.NewFlagSet("fcopy", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run prints errors
	o.lane, o.progress, o.sparse, o.block = "ring", "auto", "auto", 1<<20
	fs.Var(&o.block, "block", "copy blocks of this `SIZE`, a multiple of 4K up to 64M: 4096, 64K, 1M")
	fs.IntVar(&o.depth, "depth", 16, "have `N` blocks under way at a time, 1 to 1024")
	fs.BoolVar(&o.direct, "direct", false, "go past the page cache, where the file system can")
	fs.Var(choice{&o.lane, []string{"ring", "threads", "abandoning", "pinned", "inline"}}, "lane", "have operations done on this `LANE`: ring, threads, abandoning, pinned or inline")
	fs.BoolVar(&o.preserve, "p", false, "preserve mode and time of modification")
	fs.Var(choice{&o.progress, []string{"auto", "always", "never"}}, "progress", "show progress `WHEN`: auto, which is if the standard error is a terminal; always; or never")
	fs.BoolVar(&o.tree, "r", false, "copy directories, with what is in them")
	fs.Var(choice{&o.sparse, []string{"auto", "always", "never"}}, "sparse", "leave holes `WHEN`: auto, where SRC has holes; always, also for blocks of zeros; or never")
	fs.BoolVar(&o.stats, "stats", false, "print statistics to the standard error at the end")
	fs.BoolVar(&o.verify, "verify", false, "read both files again, past the page cache where the file system can, and compare")
	return fs
}

func parseFlags(args []string) (*options, error) {
	o := new(options)
	fs := o.define()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case fs.NArg() != 2:
		return nil, fmt.Errorf("want SRC and DST, not %d names", fs.NArg())
	case o.depth < 1 || o.depth > 1024:
		return nil, fmt.Errorf("-depth %d: must be 1 to 1024", o.depth)
	case o.block < align || o.block > 64<<20 || o.block%align != 0:
		return nil, fmt.Errorf("-block %v: must be a multiple of 4K up to 64M", &o.block)
	}
	o.src, o.dst = fs.Arg(0), fs.Arg(1)
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

// showProgress decides whether progress is to be seen.
func (o *options) showProgress(stderr io.Writer) bool {
	if o.progress != "auto" {
		return o.progress == "always"
	}
	f, ok := stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
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

// size is a number of bytes, with the suffix K, M or G for powers of 1024.
type size int64

func (s *size) String() string {
	n, suffix := int64(*s), ""
	for _, next := range []string{"K", "M", "G"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, suffix = n/1024, next
	}
	return strconv.FormatInt(n, 10) + suffix
}

func (s *size) Set(text string) error {
	digits, shift := text, 0
	if i := strings.IndexAny("KMG", text[max(len(text)-1, 0):]); i >= 0 && text != "" {
		digits, shift = text[:len(text)-1], 10*(i+1)
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return fmt.Errorf("want a number of bytes, with K, M or G or without")
	}
	*s = size(n << shift)
	return nil
}
