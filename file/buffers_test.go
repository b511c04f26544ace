package file_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func newBuffers(t testing.TB, count, size int) *file.Buffers {
	t.Helper()
	b, err := file.NewBuffers(file.BuffersConfig{Count: count, Size: size})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func get(t testing.TB, b *file.Buffers) []byte {
	t.Helper()
	buf, err := b.Get(t.Context())
	require.NoError(t, err)
	return buf
}

// fault is what a function panics with.
func fault(fn func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	fn()
	return nil
}

func TestBuffersAreAlignedApartAndWritable(t *testing.T) {
	for _, c := range []file.BuffersConfig{
		{Count: 1, Size: 1}, {Count: 3, Size: 4097}, {Count: 16, Size: 4096, Align: 8192}, {Count: 5, Size: 1 << 20, Align: 2 << 20},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			b, err := file.NewBuffers(c)
			require.NoError(t, err)
			align := uintptr(max(c.Align, 4096))
			all := make([][]byte, c.Count)
			for i := range all {
				all[i] = get(t, b)
				if p := uintptr(unsafe.Pointer(&all[i][0])); p%align != 0 {
					t.Errorf("buffer at %#x, not aligned to %d", p, align)
				}
				if len(all[i]) != c.Size || cap(all[i]) != c.Size {
					t.Errorf("length %d, capacity %d", len(all[i]), cap(all[i]))
				}
				for j := range all[i] {
					all[i][j] = byte(i + 1)
				}
			}
			for i, buf := range all {
				for _, v := range buf {
					if v != byte(i+1) {
						t.Fatal("buffers overlap")
					}
				}
				b.Put(buf[:0])
			}
			require.NoError(t, b.Close())
		})
	}
}

func TestBuffersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuffers(t, 1, 100)
		held := get(t, b)
		var order []int
		for i := range 5 {
			go func() {
				buf, err := b.Get(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i) // guarded by the buffer
				b.Put(buf)
			}()
			synctest.Wait()
		}
		b.Put(held)
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, 3, 4}, order)
	})
}

func TestWhoeverWaitsForABufferLeavesWithHisContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuffers(t, 1, 100)
		held := get(t, b)
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan error)
		go func() {
			_, err := b.Get(ctx)
			got <- err
		}()
		synctest.Wait()
		cancel(why)
		err := <-got
		if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
			t.Error(err)
		}
		_, err = b.Get(ctx)
		if !errors.Is(err, why) {
			t.Error("a context that has ended:", err)
		}
		b.Put(held)
		if again, ok := b.TryGet(); !ok {
			t.Error("the buffer is lost")
		} else {
			b.Put(again)
		}
	})
}

func TestWhoCannotWaitForABufferIsToldSo(t *testing.T) {
	b, err := file.NewBuffers(file.BuffersConfig{Count: 2, Size: 10, Waiters: lane.NoWaiters})
	require.NoError(t, err)
	one, two := get(t, b), get(t, b)
	_, err = b.Get(t.Context())
	if e, ok := errors.AsType[*file.BuffersError](err); !ok || !errors.Is(err, ioerr.ErrOverloaded) || e.Out != 2 || e.Count != 2 {
		t.Error(err)
	}
	if _, ok := b.TryGet(); ok {
		t.Error("a third one of two")
	}
	b.Put(one)
	if b.Out() != 1 {
		t.Error(b.Out())
	}
	b.Put(two)
	require.NoError(t, b.Close())
}

func TestAFaultyPutNamesTheFault(t *testing.T) {
	b, other := newBuffers(t, 2, 5000), newBuffers(t, 1, 5000)
	mine, theirs := get(t, b), get(t, other)
	for name, put := range map[string]func(){
		"is no buffer of these":                  func() { b.Put(theirs) },
		"is no buffer":                           func() { b.Put(make([]byte, 5000)) },
		"is no buffer of":                        func() { b.Put(nil) },
		"does not begin where the buffer begins": func() { b.Put(mine[1:]) },
	} {
		require.ErrorContains(t, fault(put), name)
	}
	b.Put(mine)
	other.Put(theirs)
	err := fault(func() { b.Put(mine) })
	require.ErrorContains(t, err, "it was put back before")
	if !errors.Is(err, ioerr.ErrInvalid) {
		t.Errorf("%T", err)
	}
}

func TestBuffersCloseOnlyWhenAllAreBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := file.NewBuffers(file.BuffersConfig{Count: 2, Size: 10})
		require.NoError(t, err)
		one, two := get(t, b), get(t, b)
		got := make(chan error)
		go func() {
			_, err := b.Get(context.Background())
			got <- err
		}()
		synctest.Wait()
		b.Put(one[:0:1]) // to the one who waits
		require.NoError(t, <-got)
		go func() {
			_, err := b.Get(context.Background())
			got <- err
		}()
		synctest.Wait()

		err = b.Close()
		e, ok := errors.AsType[*file.BuffersError](err)
		if !ok || !errors.Is(err, file.ErrBuffersOut) || e.Out != 2 {
			t.Error(err)
		}
		if err := <-got; !errors.Is(err, fs.ErrClosed) {
			t.Error("who waits:", err)
		}
		if _, err := b.Get(context.Background()); !errors.Is(err, fs.ErrClosed) {
			t.Error("a newcomer:", err)
		}
		two[0], one[0] = 1, 1 // still there
		b.Put(two)
		b.Put(one)
		require.NoError(t, b.Close())
		require.NoError(t, b.Close())
		if _, ok := b.TryGet(); ok {
			t.Error("after Close")
		}
		require.ErrorContains(t, fault(func() { b.Put(one) }), "closed")
	})
}

func TestNoBufferHasTwoHolders(t *testing.T) {
	b := newBuffers(t, 3, 64)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 200 {
				buf, err := b.Get(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				buf[0] = byte(i)
				runtime.Gosched()
				if buf[0] != byte(i) {
					t.Error("somebody else has it, too")
				}
				b.Put(buf)
			}
		})
	}
	wg.Wait()
	if b.Out() != 0 {
		t.Error(b.Out(), "are out")
	}
}

func TestBuffersDoNotAllocate(t *testing.T) {
	b := newBuffers(t, 3, 64)
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		buf, _ := b.Get(ctx)
		b.Put(buf)
	}); n != 0 && !raceEnabled {
		t.Error(n, "allocations")
	}
}

func TestBuffersSayWhatIsWrongWithTheirConfig(t *testing.T) {
	for field, c := range map[string]file.BuffersConfig{
		"Count":   {Size: 1},
		"Size":    {Count: 1},
		"Align":   {Count: 1, Size: 1, Align: 4097},
		"Waiters": {Count: 1, Size: 1, Waiters: -2},
	} {
		_, err := file.NewBuffers(c)
		if e, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || e.Name != "file.BuffersConfig."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, c := range []file.BuffersConfig{
		{Count: 65536, Size: 1}, {Count: 2, Size: math.MaxInt / 2}, {Count: 1, Size: 1, Align: 2048}, {Count: 1, Size: -1},
	} {
		if _, err := file.NewBuffers(c); !errors.Is(err, ioerr.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b := newBuffers(t, 1, 1)
	var none context.Context
	if _, err := b.Get(none); !errors.Is(err, ioerr.ErrInvalid) {
		t.Error(err)
	}
}

func TestBuffersSayWhatTheyAreMadeOf(t *testing.T) {
	b := newBuffers(t, 4, 1<<20)
	switch huge := b.Huge(); b.Backing() {
	case file.HeapMemory:
		if runtime.GOOS == "linux" || huge != 0 {
			t.Error("heap", huge)
		}
	case file.PlainPages:
		if huge != 0 {
			t.Error(huge)
		}
	case file.TransparentHuge, file.ReservedHuge:
		if huge <= 0 || huge > 4<<20 {
			t.Error(huge)
		}
	default:
		t.Error(b.Backing())
	}
	if b.Size() != 1<<20 || b.Count() != 4 {
		t.Error(b.Size(), b.Count())
	}
	t.Log(b.Backing(), b.Huge())
	for _, k := range []file.Backing{file.HeapMemory, file.PlainPages, file.TransparentHuge, file.ReservedHuge} {
		if strings.HasPrefix(k.String(), "Backing") {
			t.Error(k)
		}
	}
}
