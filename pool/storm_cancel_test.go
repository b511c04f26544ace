package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Shapes of load in which contexts end, before, at and after every step.

func TestStormOfCancelAgainstSittingDown(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		for range rounds(100, 10_000) {
			b := newBarrier(s)
			s.holder(id, b)
			ctx, cancel := context.WithCancel(bg)
			s.transact(ctx, id, doze)
			cancel()
			b.open()
			s.sum(ran, cancelled)
		}
	})
}

func TestStormOfCancelBeforeSittingDown(t *testing.T) {
	dead, cancel := context.WithCancel(bg)
	cancel()
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		b := newBarrier(s)
		holder := s.holder(id, b)
		for range rounds(1000, 100_000) {
			s.transact(dead, id, doze)
		}
		s.wg.Go(b.open)
		if n := s.sum(ran, cancelled); n[ran] != 1 || holder.err != nil {
			s.Errorf("%d ran, the holder's error %v", n[ran], holder.err)
		}
	})
}

// The handle is granted in the moment when its waiter leaves: the grant goes to
// the next, and never stays with one who has gone.
func TestStormOfGrantAgainstCancel(t *testing.T) {
	storms(t, pool.Config[*thing]{Waiters: 2}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		for range rounds(100, 10_000) {
			b := newBarrier(s)
			s.holder(id, b)
			ctx, cancel := context.WithCancel(bg)
			s.transact(ctx, id, doze)
			next := s.transact(bg, id, doze)
			s.line(id)
			s.wg.Go(cancel)
			b.open()
			s.sum(ran, cancelled)
			succeeds(s, next.err)
		}
	})
}

func TestStormOfCancelBetweenGrantAndStart(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{Workers: 1}, func(s *storm) {
		id := s.adopt()
		for i := range rounds(150, 10_000) {
			b := newBarrier(s)
			s.holder(id, b)
			ctx, cancel := context.WithCancel(bg)
			s.transact(ctx, id, doze)
			s.run(bg, doze) // so that the handle comes free before the slot does
			s.wg.Go(func() { nap(time.Duration(i%10) * 10 * time.Microsecond); cancel() })
			b.open()
			s.sum(ran, cancelled)
		}
	})
}

func TestStormOfWavesThatAreCancelled(t *testing.T) {
	storms(t, pool.Config[*thing]{Waiters: 10}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		b := newBarrier(s)
		s.holder(id, b)
		for range rounds(100, 5000) {
			ctx, cancel := context.WithCancel(bg)
			for range 10 {
				s.transact(ctx, id, doze)
			}
			cancel()
			for _, k := range s.calls[len(s.calls)-10:] { // they leave behind a holder that stays
				for k.out.Load() == int32(unknown) {
					nap(1000)
				}
			}
		}
		b.open()
		if n := s.sum(ran, cancelled); n[ran] != 1 {
			s.Errorf("%d ran, want the holder only", n[ran])
		}
	})
}

// A second wave after one that was cancelled finds all its places free, and runs.
func TestStormOfASecondWave(t *testing.T) {
	for _, waiters := range []int{4, 10, 16, 32} {
		storms(t, pool.Config[*thing]{Waiters: waiters}, lane.Config{}, func(s *storm) {
			id := s.adopt()
			for range rounds(10, 500) {
				b := newBarrier(s)
				s.holder(id, b)
				ctx, cancel := context.WithCancel(bg)
				for range waiters {
					s.transact(ctx, id, doze)
				}
				s.line(id)
				cancel()
				for _, k := range s.calls[1:] {
					for k.out.Load() == int32(unknown) {
						nap(1000)
					}
				}
				for range waiters {
					s.transact(bg, id, doze)
				}
				s.line(id)
				b.open()
				if n := s.sum(ran, cancelled); n[ran] != waiters+1 || n[cancelled] != waiters {
					s.Errorf("%d ran, %d cancelled, want %d and %d", n[ran], n[cancelled], waiters+1, waiters)
				}
			}
		})
	}
}

// The same on the lane's own queue, with deadlines as well.
func TestStormOfContextsThatEndInTheQueue(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{Workers: 1, Queue: 8, Waiters: 8}, func(s *storm) {
		for i := range rounds(40, 4000) {
			for j := range 32 {
				ctx, cancel := context.WithCancel(bg)
				if j%3 == 0 {
					ctx, cancel = context.WithTimeout(bg, time.Duration(i%7)*20*time.Microsecond)
				}
				s.run(ctx, doze)
				if j%3 == 1 {
					s.wg.Go(cancel)
				}
				defer cancel()
			}
			s.sum(ran, cancelled, timedOut, refused)
		}
	})
}
