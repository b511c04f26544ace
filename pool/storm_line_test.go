package pool_test

import (
	"context"
	"errors"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Shapes of load on the line before a handle.

func TestStormOfTransactionsIsSerial(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		for range rounds(10, 1000) {
			for range 10 {
				s.transact(bg, id, doze)
			}
			s.sum(ran)
		}
	})
}

func TestStormOnExactlyTheRoomThereIs(t *testing.T) {
	for _, waiters := range []int{1, 4, 16, 32, 64} {
		storms(t, pool.Config[*thing]{Waiters: waiters}, lane.Config{}, func(s *storm) {
			id := s.adopt()
			for range rounds(2, 100) {
				b := newBarrier(s)
				s.holder(id, b)
				for range waiters {
					s.transact(bg, id, doze)
				}
				s.line(id)
				over := s.transact(bg, id, doze)
				for over.out.Load() == int32(unknown) {
					nap(1000)
				}
				b.open()
				if n := s.sum(ran, refused); n[ran] != waiters+1 || n[refused] != 1 {
					s.Errorf("%d ran, %d refused, want %d and 1", n[ran], n[refused], waiters+1)
				}
				is(s, over.err, ioerr.ErrWaitersFull)
			}
		})
	}
}

func TestStormOfHoldersThatFail(t *testing.T) {
	broken := errors.New("broken")
	storms(t, pool.Config[*thing]{Waiters: 5}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		for range rounds(50, 5000) {
			b := newBarrier(s)
			holder := s.transact(bg, id, func(context.Context) error { b.stay(); return broken })
			<-b.reached
			for range 5 {
				s.transact(bg, id, doze)
			}
			s.line(id)
			b.open()
			s.sum(ran)
			is(s, holder.err, broken)
		}
	})
}

func TestStormOnSeveralResources(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		for range rounds(10, 1000) {
			ids := []handle.ID{s.adopt(), s.adopt(), s.adopt()}
			for i := range 30 {
				ctx, cancel := context.WithCancel(bg)
				s.transact(ctx, ids[i%3], doze)
				if i%7 == 6 {
					cancel()
				}
				defer cancel()
			}
			s.sum(ran, cancelled)
			for _, id := range ids {
				succeeds(s, s.p.Destroy(bg, id))
			}
		}
	})
}

// Handles that come and go.

func TestStormOfRegisterAndDestroy(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		var last handle.ID
		for range rounds(100, 10_000) {
			id, err := s.p.Register(bg, s.shop.open)
			succeeds(s, err)
			if s.p.Has(last) || !s.p.Has(id) {
				s.Error("the wrong one is there")
			}
			s.transact(bg, id, doze)
			succeeds(s, s.p.Destroy(bg, id))
			last = id
		}
		s.sum(ran, refused)
	})
}

func TestStormOfDestroyDuringATransaction(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		for range rounds(50, 5000) {
			id := s.adopt()
			k := s.transact(bg, id, doze)
			succeeds(s, s.p.Destroy(bg, id))
			s.sum(ran, refused)
			if k.err != nil {
				is(s, k.err, ioerr.ErrHandleNotFound)
			}
		}
	})
}

func TestStormOfDestroyWithALine(t *testing.T) {
	storms(t, pool.Config[*thing]{Waiters: 5}, lane.Config{}, func(s *storm) {
		for range rounds(50, 5000) {
			id := s.adopt()
			b := newBarrier(s)
			holder := s.holder(id, b)
			for range 5 {
				s.transact(bg, id, doze)
			}
			s.line(id)
			gone := start(func() error { return s.p.Destroy(bg, id) })
			for s.p.Has(id) {
				nap(1000)
			}
			b.open()
			succeeds(s, <-gone)
			calls := s.calls
			if n := s.sum(ran, refused); n[ran] != 1 || n[refused] != 5 || holder.err != nil {
				s.Errorf("%d ran, %d refused, the holder's error %v", n[ran], n[refused], holder.err)
			}
			for _, k := range calls[1:] {
				is(s, k.err, ioerr.ErrHandleNotFound)
			}
		}
	})
}

// A handle that goes away in the moment when somebody sits down to wait for it.
func TestStormOfDestroyAgainstSittingDown(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		for range rounds(100, 10_000) {
			id := s.adopt()
			for range 3 {
				s.transact(bg, id, doze)
			}
			s.wg.Go(func() { succeeds(s, s.p.Destroy(bg, id)) })
			s.sum(ran, refused)
		}
	})
}
