// Package command is what the commands here that measure something have in common.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// Main is main of a command of this name. It ends the process.
func Main(name string, run func(ctx context.Context, out io.Writer, args []string) error) {
	err := run(context.Background(), os.Stdout, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Parse reads a command line of flags alone. Help goes to out.
func Parse(flags *flag.FlagSet, out io.Writer, args []string) error {
	var said strings.Builder
	flags.SetOutput(&said)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(out, said.String())
	case err == nil && flags.NArg() > 0:
		err = &ioerr.ArgumentError{Name: "argument", Value: flags.Arg(0), Reason: "there are only flags"}
	}
	return err
}

// OneOf says whether the flag has one of some values.
func OneOf(name, value string, among []string) error {
	if slices.Contains(among, value) {
		return nil
	}
	return &ioerr.ArgumentError{Name: name, Value: value, Reason: "must be one of " + strings.Join(among, ", ")}
}

// AtLeast says whether the number of a flag is so large.
func AtLeast(name string, value, least int) error {
	if value >= least {
		return nil
	}
	return &ioerr.ArgumentError{Name: name, Value: value, Reason: fmt.Sprintf("must be at least %d", least)}
}

// Median returns the middle one, or of an even number the later of the two in the middle. It
// sorts them.
func Median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// Table writes lines with tabs between and behind their columns as a table, and lines without
// as they are.
func Table(out io.Writer, text string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, err := io.WriteString(w, text)
	return errors.Join(err, w.Flush())
}
