package pool_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// The Go runtime allows 10,000 threads, whatever the system does.
func TestAPoolThatMightNeedTooManyThreadsIsRefused(t *testing.T) {
	p, err := pool.New(pool.Config[int]{Threads: lane.Config{Name: "disk", Workers: 1<<16 - 1}})
	if p != nil {
		t.Error("a pool in spite of all")
	}
	e, ok := errors.AsType[*ioerr.Error](err)
	if !ok || e.Outcome != ioerr.Failed || e.Origin != ioerr.Executor || e.Effect != ioerr.None || !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Fatalf("the error is %#v, want a refusal by the pool that matches ErrThreadLimit", err)
	}
	limit, ok := errors.AsType[*ioerr.ThreadLimitError](err)
	if !ok || limit.Lane != "disk" || limit.Threads != 1<<16-1 || limit.By == "" || limit.Limit <= limit.Kept {
		t.Errorf("the error says %+v", limit)
	}
	if got, want := err.Error(), "pool: lane disk: may need 65535 threads beside "; !strings.HasPrefix(got, want) {
		t.Errorf("the text is %q, want %q at its beginning", got, want)
	}
}
