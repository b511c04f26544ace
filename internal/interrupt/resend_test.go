package interrupt

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// gaps returns the times between the signals that were tried.
func (f *fake) gaps() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var d []time.Duration
	for i := 1; i < len(f.tries); i++ {
		d = append(d, f.tries[i].Sub(f.tries[i-1]))
	}
	return d
}

// section runs a section of c until leave is closed; entered when it returns.
func section(t *testing.T, c *Call) (leave chan struct{}) {
	leave = make(chan struct{})
	entered := make(chan struct{})
	go func() {
		if err := c.Enter(); err != nil {
			t.Errorf("Enter: %v", err)
		}
		close(entered)
		<-leave
		c.Leave()
	}()
	<-entered
	return leave
}

func TestALostSignalIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		c := f.call()
		leave := section(t, c)
		f.onSend = func(n, _ int) {
			if n == 11 { // only this one meets the system call
				close(leave)
			}
		}
		if err := c.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
		us := time.Microsecond
		want := []time.Duration{50 * us, 100 * us, 200 * us, 400 * us, 800 * us, 1600 * us, 3200 * us, 6400 * us, 10000 * us, 10000 * us}
		if got := f.gaps(); !slices.Equal(got, want) {
			t.Errorf("waits %v, want %v", got, want)
		}
	})
}

func TestInterruptReturnsAtOnceWhenTheSectionIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		c := f.call()
		leave := section(t, c)
		start := time.Now()
		time.AfterFunc(45*time.Millisecond, func() { close(leave) })
		if err := c.Interrupt(t.Context()); err != nil || time.Since(start) != 45*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestASignalThatIsPendingIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		stuck := time.Now().Add(time.Hour)
		f.waits = func() (bool, error) { return time.Now().Before(stuck), nil }
		c := f.call()
		leave := section(t, c)
		f.onSend = func(n, _ int) {
			if n == many+1 {
				close(leave)
			}
		}
		if err := c.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
		if n := f.sends(); n != many+1 {
			t.Errorf("%d signals in an hour", n)
		}
		if late := time.Since(stuck); late > slowWait {
			t.Errorf("%v until the next", late)
		}
	})
}

func TestWhereNobodyKnowsWhatIsPendingSignalsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{waits: func() (bool, error) { return false, errStatusUnknown }}
		c := f.call()
		leave := section(t, c)
		time.AfterFunc(time.Minute, func() { close(leave) })
		if err := c.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
		if n := f.sends(); n < 60 || n > 60+many+10 {
			t.Errorf("%d signals in a minute", n)
		}
	})
}

var errStatusUnknown = errors.New("no /proc")

func TestASignalThatCouldNotBeSentIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{refuse: func(n int) bool { return n < 20 }}
		c := f.call()
		leave := section(t, c)
		f.onSend = func(n, _ int) {
			if n == 20 {
				close(leave)
			}
		}
		if err := c.Interrupt(t.Context()); err != nil || f.firsts != 1 {
			t.Errorf("%v, %d first signals", err, f.firsts)
		}
	})
}

func TestInterruptGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		c := f.call()
		leave := section(t, c)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := c.Interrupt(ctx); !errors.Is(err, cause) {
			t.Error(err)
		}
		if f.sends() != 1 || !c.Asked() {
			t.Errorf("%d signals, asked %v", f.sends(), c.Asked())
		}
		close(leave)
	})
}

func TestManyMayInterruptOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		c := f.call()
		leave := section(t, c)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := c.Interrupt(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		close(leave)
		wg.Wait()
	})
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := (&fake{}).call()
		if !c.Watch(context.Background())() || c.Asked() {
			t.Error("a context that cannot end")
		}
		ctx, cancel := context.WithCancel(t.Context())
		if !c.Watch(ctx)() {
			t.Error("stopped in time")
		}
		stop := c.Watch(ctx)
		leave := section(t, c)
		cancel()
		synctest.Wait()
		if stop() || !c.Asked() {
			t.Errorf("asked %v", c.Asked())
		}
		close(leave)
	})
}
