package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Shapes of load that a shutdown comes upon.

// again makes another pool for the storm, since one can be shut down only once.
// A shared lane is used by all of them.
func (s *storm) again(c pool.Config[*thing]) {
	s.Helper()
	succeeds(s, s.p.Close())
	if !s.ground.shared {
		s.ground = s.ground.settle(s, s.ground.conf)
	}
	c.Dispose = s.shop.dispose
	s.p = on(s.ground, c)
}

// shutdownStorms is storms for shapes that shut the pool down in each round.
func shutdownStorms(t *testing.T, n int, c pool.Config[*thing], shape func(s *storm, i int)) {
	t.Helper()
	for _, pl := range places[:5] {
		t.Run(pl.name, func(t *testing.T) {
			s := &storm{T: t, shop: newShop(t), ground: pl.settle(t, lane.Config{Workers: 4})}
			c := c
			c.Dispose = s.shop.dispose
			s.p = on(s.ground, c)
			for i := range n {
				shape(s, i)
				s.wait()
				closes(t, s.p)
				s.again(c)
			}
			closes(t, s.p)
			s.shop.allBack()
		})
	}
}

func TestStormOfLifecycleUnderCancelAndContention(t *testing.T) {
	shutdownStorms(t, rounds(20, 1000), pool.Config[*thing]{}, func(s *storm, i int) {
		id := s.adopt()
		b := newBarrier(s)
		s.holder(id, b)
		for range 2 {
			s.transact(bg, id, doze)
		}
		for j := range 24 {
			ctx, cancel := context.WithCancel(bg)
			s.transact(ctx, id, doze)
			if j%3 == 0 {
				s.wg.Go(cancel)
			}
			defer cancel()
		}
		s.wg.Go(b.open)
		nap(time.Duration(i%10) * 50 * time.Microsecond)
		succeeds(s, s.p.Close())
		s.sum(ran, cancelled, shutdown)
	})
}

func TestStormOfShutdownWithALine(t *testing.T) {
	shutdownStorms(t, rounds(50, 3000), pool.Config[*thing]{Waiters: 10}, func(s *storm, _ int) {
		id := s.adopt()
		b := newBarrier(s)
		holder := s.holder(id, b)
		for range 10 {
			s.transact(bg, id, doze)
		}
		s.line(id)
		downs := []<-chan error{start(s.p.Close), start(s.p.Close)} // two at once
		for s.p.Has(id) {
			nap(1000)
		}
		b.open()
		for _, c := range downs {
			succeeds(s, <-c)
		}
		calls := s.calls
		if n := s.sum(ran, shutdown); n[ran] != 1 || n[shutdown] != 10 || holder.err != nil {
			s.Errorf("%d ran, %d were told of the shutdown, the holder's error %v", n[ran], n[shutdown], holder.err)
		}
		for _, k := range calls[1:] {
			is(s, k.err, ioerr.ErrShutdown)
		}
	})
}

// A shutdown in the moment when somebody sits down to wait, for a handle or a slot.
func TestStormOfShutdownAgainstSittingDown(t *testing.T) {
	shutdownStorms(t, rounds(100, 5000), pool.Config[*thing]{}, func(s *storm, _ int) {
		id := s.adopt()
		for range 6 {
			s.transact(bg, id, doze)
			s.run(bg, doze)
		}
		succeeds(s, s.p.Close())
		s.sum(ran, shutdown)
	})
}

func TestStormOfPoolsInAHurry(t *testing.T) {
	shutdownStorms(t, rounds(20, 1000), pool.Config[*thing]{}, func(s *storm, _ int) {
		for range 5 {
			id, err := s.p.Register(bg, s.shop.open)
			require.NoError(s, err)
			s.transact(bg, id, doze)
			s.transact(bg, id, doze)
		}
		succeeds(s, s.p.Close())
		s.sum(ran, shutdown)
	})
}

func TestStormOfSubmitsAfterShutdown(t *testing.T) {
	shutdownStorms(t, rounds(20, 1000), pool.Config[*thing]{}, func(s *storm, _ int) {
		id := s.adopt()
		succeeds(s, s.p.Close())
		for range 10 {
			s.transact(bg, id, doze)
			s.run(bg, doze)
			s.call(bg, func(ctx context.Context, work func(context.Context) error) error {
				_, err := s.p.Register(ctx, func(ctx context.Context) (*thing, error) { return nil, work(ctx) })
				return err
			}, doze)
		}
		s.sum(shutdown)
	})
}

// Everything at once.
func TestStormOfChaos(t *testing.T) {
	shutdownStorms(t, rounds(3, 200), pool.Config[*thing]{Waiters: 8}, func(s *storm, _ int) {
		done := make(chan int)
		for range 20 {
			s.wg.Go(func() {
				for i := range 50 {
					s.chaos(i)
				}
			})
		}
		go func() { s.wg.Wait(); close(done) }()
		nap(10 * time.Millisecond)
		succeeds(s, s.p.Close())
		<-done
		s.sum(ran, cancelled, timedOut, shutdown, refused)
	})
}

// chaos is one operation of the kind i.
func (s *storm) chaos(i int) {
	id, err := s.p.Register(bg, s.shop.open)
	if err != nil {
		is(s, err, ioerr.ErrShutdown)
		return
	}
	destroy := func(id handle.ID) { succeeds(s, s.p.Destroy(bg, id)) }
	switch i % 6 {
	case 0:
	case 1:
		destroy(id)
	case 2:
		s.transact(bg, id, doze)
	case 3:
		ctx, cancel := context.WithCancel(bg)
		s.transact(ctx, id, doze)
		cancel()
	case 4:
		s.transact(bg, id, doze)
		destroy(id)
	case 5:
		s.transact(bg, id, doze, pool.FailFast)
		err := s.p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return s.shop.make(), doze(bg) })
		if err != nil {
			is(s, err, ioerr.ErrShutdown)
		}
	}
}
