package ringdriver

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Law: a driver can be closed when it has never done anything, when it rests, and right after
// it was busy; and then the descriptors are gone.
func TestClose(t *testing.T) {
	before := descriptors(t)
	uses := map[string]func(d *Driver){
		"new":  func(*Driver) {},
		"rest": func(d *Driver) { d.Do(bg, nop()); until(t, d, func() bool { return true }) },
		"busy": func(d *Driver) {
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() { d.Do(bg, nop()) })
				all.Go(func() { d.Run(bg, nil, func(ctx context.Context) { On(ctx).Do(ctx, sleep(1)) }) })
			}
			all.Wait()
		},
		"taken over": func(d *Driver) { d.Run(bg, nil, func(ctx context.Context) { takenOver(ctx) }) },
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			for range rounds(10, 200) {
				d := newDriver(t, Config{Slots: 16})
				use(d)
				require.NoError(t, d.Close(bg))
			}
		})
	}
	require.Equal(t, before, descriptors(t))
}

// Law: a driver can be closed several times, also at once.
func TestCloseTwice(t *testing.T) {
	for range 20 {
		d := newDriver(t, Config{Slots: 16})
		d.Do(bg, nop())
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 2 {
					if err := d.Close(bg); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		require.NoError(t, d.Close(bg))
	}
}

// Law: where there is nothing to wait for, Close succeeds whatever the context, and then it is
// told so each time.
func TestCloseWithAContextThatHasEnded(t *testing.T) {
	d := newDriver(t, Config{Slots: 16})
	ctx, cancel := context.WithCancel(bg)
	cancel()
	for range 100 {
		require.NoError(t, d.Close(ctx))
	}
}

// Law: the end of a fiber's context that is told after the driver's end harms nobody.
func TestAMessageAfterTheEnd(t *testing.T) {
	for range 100 {
		d := newDriver(t, Config{Slots: 2})
		ctx, cancel := context.WithCancel(bg)
		var all sync.WaitGroup
		all.Go(func() { d.Run(ctx, nil, func(ctx context.Context) { On(ctx).Do(ctx, nop()) }) })
		all.Go(cancel)
		all.Wait()
		require.NoError(t, d.Close(bg))
		d.send(&message{kind: late, req: newRequest()})
	}
}

// late is the kind of a message that calls off, where cancel is a function.
const late = cancel

// Law: however many goroutines share a ring, none hangs, and the end comes, from rest and from
// work.
func TestManyGoroutinesShareARingAndItEnds(t *testing.T) {
	each := rounds(200, 10000)
	for _, pause := range []bool{true, false} {
		d := newDriver(t, Config{Slots: 64})
		var all sync.WaitGroup
		for range 256 {
			all.Go(func() {
				for range each {
					d.Do(bg, nop())
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 256*each, d.Stats().Operations)
		if pause {
			for head := d.inbox.head.Load(); head != &d.inbox.idle; head = d.inbox.head.Load() {
				time.Sleep(time.Millisecond) // until the driver rests
			}
		}
		require.NoError(t, d.Close(bg))
	}
}
