package command

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/ioerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What is wrong with a flag is told with its name and its value.
func TestBadFlagsAreNamedWithTheirValues(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	among := []string{"threads", "ring"}
	for _, c := range []struct {
		err         error
		name, value string
	}{
		{OneOf("-lane", "moon", among), "-lane", "moon"}, {AtLeast("-n", 0, 1), "-n", "0"},
		{Parse(flags, io.Discard, []string{"rest"}), "argument", "rest"},
	} {
		argument, ok := errors.AsType[*ioerr.ArgumentError](c.err)
		if !ok || argument.Name != c.name || !strings.Contains(c.err.Error(), c.value) {
			t.Errorf("%s, %s: %v", c.name, c.value, c.err)
		}
	}
	if OneOf("-lane", "ring", among) != nil || AtLeast("-n", 1, 1) != nil {
		t.Error("what is right is refused")
	}
}

func TestHelpGoesToTheOutput(t *testing.T) {
	flags := flag.NewFlagSet("some", flag.ContinueOnError)
	flags.Int("n", 7, "how many")
	var out strings.Builder
	if err := Parse(flags, &out, []string{"-h"}); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "how many") {
		t.Error(err, out.String())
	}
}

func TestTheMedianIsTheMiddleOne(t *testing.T) {
	if got := Median([]time.Duration{5, 1, 3}); got != 3 {
		t.Error(got)
	}
	if got := Median([]time.Duration{4}); got != 4 {
		t.Error(got)
	}
}

func TestATableIsAlignedAtTheRight(t *testing.T) {
	var out strings.Builder
	if err := Table(&out, "a title\n\tms\t\nrow\t1.00\t\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a title\n         ms\n  row  1.00\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
