package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iolane/iolane/bench/fileio/internal/contender"
	"github.com/iolane/iolane/bench/fileio/internal/result"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "fileio:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	shapes, cases, peers string
	rounds               int
	params               work.Params
	dir, loop            string
	timed, huge          bool
	procs                int
	out                  string
	add                  bool
	others               float64
	against, lock        string
	list                 bool
	check, table         string // files to read
	child                string // what a process of its own is to measure
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("fileio", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.shapes, "shape", "seq", "`names` of shapes, separated by commas, or all")
	f.StringVar(&o.cases, "cases", "*", "`patterns` of cases, see -list; * stands for anything but a slash, and alone for all")
	f.StringVar(&o.peers, "peers", "*", "`patterns` of contenders")
	f.IntVar(&o.rounds, "rounds", 5, "how often each contender is measured")
	f.Func("size", "`bytes` of files, as 512m or 16g (default 16g for seq, 2g for the others)", func(s string) (err error) {
		o.params.Size, err = bytesOf(s)
		return err
	})
	f.DurationVar(&o.params.Time, "time", time.Second, "how long a case takes that is bound by time; whole seconds for fio's sake")
	f.Func("depths", "operations at a time in rand and nop, separated by commas (default 1,4,16,64,256)", func(s string) (err error) {
		o.params.Depths, err = numbers(s)
		return err
	})
	f.StringVar(&o.dir, "dir", os.TempDir(), "`folder` for the files, on the disk that is measured")
	f.StringVar(&o.loop, "loop", "", "measure on a loop device of so many `bytes` over memory, which is made and removed (root)")
	f.BoolVar(&o.timed, "check-timed", false, "seq: check every word while reading, not after")
	f.BoolVar(&o.huge, "huge", false, "our buffers on huge pages; fio's are not, unless it is given --mem=mmaphuge by hand")
	f.IntVar(&o.procs, "procs", 0, "GOMAXPROCS of the measurements (default: the runtime's choice)")
	f.StringVar(&o.out, "json", "", "`file` for the samples")
	f.BoolVar(&o.add, "add", false, "keep what is in that file, but for the cases that are measured now")
	f.StringVar(&o.against, "against", "fio-plain,fio-best,pread", "contenders that the table sets the others against")
	f.StringVar(&o.lock, "lock", "", "`file` to lock while measuring, so that others who lock it wait")
	f.Float64Var(&o.others, "others", 0, "measure again, up to 3 times, when others have used more than this `share` of the processors (not with -loop, whose device works for others; 0: never)")
	f.BoolVar(&o.list, "list", false, "print shapes, cases and contenders")
	f.StringVar(&o.check, "check", "", "compare the samples in this `file` with the targets")
	f.StringVar(&o.table, "table", "", "print the tables of the samples in this `file`")
	f.BoolVar(&o.params.Quick, "quick", false, "all shapes once, on small files")
	f.StringVar(&o.child, "child", "", "a job, in JSON; used by the command itself")
	if err := f.Parse(args); err != nil {
		return o, errors.Join(flag.ErrHelp, err)
	}
	if o.params.Quick {
		given := make(map[string]bool)
		f.Visit(func(f *flag.Flag) { given[f.Name] = true })
		o.beQuick(given)
	}
	return o, o.sensible(f)
}

// beQuick sets what was not given.
func (o *options) beQuick(given map[string]bool) {
	if !given["shape"] {
		o.shapes = "all"
	}
	if !given["rounds"] {
		o.rounds = 1
	}
	if !given["time"] {
		o.params.Time = 20 * time.Millisecond
	}
}

func (o *options) sensible(f *flag.FlagSet) error {
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("what is %q for?", f.Arg(0))
	case o.rounds < 1:
		return errors.New("-rounds must be at least 1")
	case o.params.Time < time.Second && !o.params.Quick || o.params.Time <= 0:
		return errors.New("-time must be at least 1s, else nothing can be set against fio")
	case o.params.Size%(1<<20) != 0:
		return errors.New("-size must be in whole MiB")
	}
	return nil
}

// bytesOf reads 512m, 16g, …
func bytesOf(s string) (int64, error) {
	unit := int64(1)
	lower := strings.ToLower(s)
	for suffix, u := range map[string]int64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30} {
		if digits, ok := strings.CutSuffix(lower, suffix); ok {
			lower, unit = digits, u
			break
		}
	}
	n, err := strconv.ParseInt(lower, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no size like 512m or 16g", s)
	}
	return n * unit, nil
}

func numbers(s string) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 4096 {
			return nil, fmt.Errorf("%q is no number from 1 to 4096", word)
		}
		all = append(all, n)
	}
	return all, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.procs > 0 {
		runtime.GOMAXPROCS(o.procs)
	}
	switch {
	case o.child != "":
		return child(ctx, o.child, stdout)
	case o.list:
		return list(o, stdout)
	case o.check != "":
		f, err := result.Load(o.check)
		if err != nil {
			return err
		}
		return f.Check(stdout, result.Targets())
	case o.table != "":
		f, err := result.Load(o.table)
		if err != nil {
			return err
		}
		return f.Table(stdout, strings.Split(o.against, ","))
	}
	// So that nothing is left behind when somebody interrupts this, or does not read on. Not
	// in the processes that measure: it takes a thread, and theirs are counted.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	return measure(ctx, o, stdout, stderr)
}

// list prints what there is.
func list(o options, stdout io.Writer) error {
	var b strings.Builder
	b.WriteString("cases\n")
	for _, shape := range work.Shapes() {
		for _, c := range work.Cases(shape, o.params) {
			fmt.Fprintf(&b, "  %s\n", c.Name)
		}
	}
	b.WriteString("contenders\n")
	for _, c := range contender.All() {
		fmt.Fprintf(&b, "  %-15s %s\n", c.Name, c.About)
		if err := c.Missing(); err != nil {
			fmt.Fprintf(&b, "  %-15s not here: %v\n", "", err)
		}
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}
