package pool

import (
	"errors"
	"testing"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Law: a pool that cannot count one more call says that it is overloaded, and not
// that it is shutting down.
func TestNoRoomInsideIsOverload(t *testing.T) {
	c := &core{
		gate: lanegate.New(lanegate.Config{Slots: 1, Tickets: new(lanegate.Tickets)}), // in truth half a million
		lane: lane.NewInline("l"),
	}
	first, second := stay{core: c}, stay{core: c}
	if e := c.goInside(&first); e != nil {
		t.Fatal(e)
	}
	if e := c.goInside(&second); e == nil || !errors.Is(e, ioerr.ErrOverloaded) || e.Outcome != ioerr.Failed {
		t.Errorf("got %v, want ErrOverloaded", e)
	}
	first.leave()
	c.gate.Close()
	if e := c.goInside(&second); e == nil || !errors.Is(e, ioerr.ErrShutdown) || e.Outcome != ioerr.ShutdownInProgress {
		t.Errorf("got %v, want ErrShutdown", e)
	}
}
