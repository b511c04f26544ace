package pool

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// The lane calls Ending without its mutex, so End may have been before it.
func TestACallMayBeCalledOffWhenItHasEnded(t *testing.T) {
	p, err := New(Config[int]{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m := &mark{Context: context.Background(), site: &p.here}
	task := &parcel[int]{fn: func(context.Context) (int, error) { return 1, nil }}
	task.core, task.at, task.mark, task.ctx = p.own(), &p.here, m, ownContext{m}
	task.Run(lane.Thread{})
	task.End(false, nil)
	task.Ending(ioerr.ErrCallLimit)
}

// The goroutine of a probe's timer that comes late (its timer had fired when Replace took
// the lease, so Stop was of no use) does not probe beside the one that Replace has set.
func TestAProbeThatComesLateDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		p, err := New(Config[int]{
			Health: HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check: func(int) error {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				time.Sleep(10 * time.Second)
				return io.EOF
			}})
		if err != nil {
			t.Fatal(err)
		}
		id, _ := p.Adopt(1)
		_ = p.With(context.Background(), id, func(context.Context, int) error { return io.EOF })
		pt := p.ward.sick[id]
		turn := pt.turn
		late := func() { p.ward.probe(pt, turn) } // what pt.timer runs; it has fired, and waits for the mutex
		if err := p.Replace(context.Background(), id, func(context.Context, int) (int, error) { return 0, io.EOF }); err == nil {
			t.Fatal("?")
		}
		go late()
		time.Sleep(9 * time.Second) // the new timer goes off meanwhile
		if n := most.Load(); n != 1 {
			t.Errorf("%d probes of one resource at once", n)
		}
		time.Sleep(9 * time.Second)
		_ = p.Close()
	})
}
