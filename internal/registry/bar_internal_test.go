package registry

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
)

// While the registry closes and has not come to an entry yet that is stuck, whoever
// wants that is told of the shutdown, at once.
func TestAStuckEntryOfARegistryThatCloses(t *testing.T) {
	r := New[int](1, time.Hour)
	e, err := r.Insert(1)
	if err != nil {
		t.Fatal(err)
	}
	lease, ok := r.Try(e.ID)
	if !ok {
		t.Fatal("not free")
	}
	r.Bar(lease.Entry, func() error { return &ioerr.StuckError{Label: "read", Err: ioerr.ErrHandleBusy} })
	_, err = r.Acquire(context.Background(), e.ID, &lanegate.Request{})
	if stuck, ok := errors.AsType[*ioerr.StuckError](err); !ok || stuck.Label != "read" {
		t.Errorf("%v", err)
	}
	r.closed.Store(true)
	if _, err = r.Acquire(context.Background(), e.ID, &lanegate.Request{}); !errors.Is(err, ioerr.ErrShutdown) {
		t.Errorf("%v", err)
	}
	r.closed.Store(false)
	r.Unbar(lease.Entry)
	lease.Release()
	if _, err = r.Acquire(context.Background(), e.ID, &lanegate.Request{}); err != nil {
		t.Error(err)
	}
}
