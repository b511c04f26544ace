package lanes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A lane of any kind runs as many calls at a time as it was asked for, but Inline. A ring
// runs so many operations, and beside them so many functions.
func TestALaneHasTheWorkersThatItWasAskedFor(t *testing.T) {
	for _, kind := range Names() {
		for _, workers := range []int{1, 2, 3, 7, 10} {
			l, err := New(kind, lane.Config{Workers: workers})
			if err != nil {
				t.Fatal(kind, err)
			}
			want := workers
			if kind == "ring" {
				want *= 2
			}
			if got := l.Stats().Workers; kind != "inline" && got != want {
				t.Errorf("%s: got %d workers, want %d", kind, got, want)
			}
			if err := l.Shutdown(t.Context()); err != nil {
				t.Error(kind, err)
			}
		}
	}
}

func TestShardsHaveAnEqualNumberOfWorkers(t *testing.T) {
	for _, c := range []struct{ workers, limit, want int }{
		{1, 2, 1}, {2, 2, 2}, {3, 2, 1}, {10, 8, 5}, {100, 8, 5}, {7, 8, 7}, {65_535, 128, 51},
	} {
		if got := shards(c.workers, c.limit); got != c.want {
			t.Errorf("%d workers, at most %d shards: got %d, want %d", c.workers, c.limit, got, c.want)
		}
	}
}

// What is wrong with a list is told with its name and its value.
func TestBadListsAreNamedWithTheirValues(t *testing.T) {
	for _, list := range []string{"1,x", "", "4,0", "65536"} {
		_, err := Numbers("-workers", list)
		argument, ok := errors.AsType[*ioerr.ArgumentError](err)
		if !ok || argument.Name != "-workers" || !strings.Contains(err.Error(), list) {
			t.Errorf("%q: %v", list, err)
		}
	}
	if got, err := Numbers("-workers", "1, 2,4"); err != nil || !slices.Equal(got, []int{1, 2, 4}) {
		t.Error(got, err)
	}
}
