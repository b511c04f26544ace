package threadlimit_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/threadlimit"
	"github.com/iolane/iolane/ioerr"
)

// kept is what no lane may have.
func kept() int { return runtime.GOMAXPROCS(0) + threadlimit.Besides }

// fixed is a ledger with room for so many threads.
func fixed(room int) *threadlimit.Ledger {
	limits := []threadlimit.Limit{{By: "test", Max: room + kept()}}
	return &threadlimit.Ledger{Limits: func() []threadlimit.Limit { return limits }}
}

func claim(t *testing.T, l *threadlimit.Ledger, threads int) *threadlimit.Share {
	t.Helper()
	s, err := l.Claim("", threads)
	require.NoError(t, err)
	return s
}

func wantClaimed(t *testing.T, l *threadlimit.Ledger, want int) {
	t.Helper()
	if got := l.Claimed(); got != want {
		t.Errorf("%d threads are claimed, want %d", got, want)
	}
}

func wantRefusal(t *testing.T, err error, want ioerr.ThreadLimitError) {
	t.Helper()
	got, ok := errors.AsType[*ioerr.ThreadLimitError](err)
	if !ok || !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Errorf("the error is %v, want an *ioerr.ThreadLimitError that matches ErrThreadLimit", err)
		return
	}
	if *got != want {
		t.Errorf("refused with %+v, want %+v", *got, want)
	}
}

// Law: lanes that were forgotten make nobody be refused, though nothing has collected them
// yet.
func TestForgottenSharesRefuseNobody(t *testing.T) {
	l := fixed(10)
	for range 20 {
		claim(t, l, 10)
	}
	used := claim(t, l, 10)
	if _, err := l.Claim("", 1); err == nil {
		t.Error("granted beside a share that is in use")
	}
	used.Release()
	wantClaimed(t, l, 0)
}

func TestAllLanesTogetherMayNeedWhatTheTightestLimitLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		limits []threadlimit.Limit
		room   int // less what is kept in any case
		by     int // which of them
	}{
		"one":            {[]threadlimit.Limit{{By: "a", Max: 100}}, 100, 0},
		"the lower":      {[]threadlimit.Limit{{By: "a", Max: 100}, {By: "b", Max: 80}, {By: "c", Max: 90}}, 80, 1},
		"others have":    {[]threadlimit.Limit{{By: "a", Max: 100, Others: 50}, {By: "b", Max: 60}}, 50, 0},
		"equal":          {[]threadlimit.Limit{{By: "a", Max: 60}, {By: "b", Max: 60}}, 60, 0},
		"very high":      {[]threadlimit.Limit{{By: "a", Max: math.MaxInt32}, {By: "b", Max: 70}}, 70, 1},
		"others have it": {[]threadlimit.Limit{{By: "a", Max: 100, Others: math.MaxInt32 / 2}}, 100 - math.MaxInt32/2, 0},
		"nothing":        {[]threadlimit.Limit{{By: "a"}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := &threadlimit.Ledger{Limits: func() []threadlimit.Limit { return c.limits }}
			room := c.room - kept()
			have := 0
			if room > 0 {
				a, b := claim(t, l, room/2), claim(t, l, room-room/2)
				defer runtime.KeepAlive(a)
				defer runtime.KeepAlive(b)
				have = room
			}
			limit := c.limits[c.by]
			for _, n := range []int{1, 2, 1000, 64 * (1<<16 - 1), math.MaxInt32} {
				_, err := l.Claim("disk", n)
				wantRefusal(t, err, ioerr.ThreadLimitError{
					Lane: "disk", Threads: n, Others: have, Limit: limit.Max, Kept: kept() + limit.Others, By: limit.By,
				})
			}
			wantClaimed(t, l, have)
		})
	}
}

func TestGrowingIsHeldAgainstTheLimitAndShrinkingIsAlwaysGranted(t *testing.T) {
	l := fixed(100)
	a, b := claim(t, l, 60), claim(t, l, 30)
	require.NoError(t, a.Resize(70))
	err := a.Resize(71)
	wantRefusal(t, err, ioerr.ThreadLimitError{Threads: 71, Others: 30, Limit: 100 + kept(), Kept: kept(), By: "test"})
	wantClaimed(t, l, 100)
	require.NoError(t, b.Resize(1))
	require.NoError(t, a.Resize(99))
	wantClaimed(t, l, 100)

	// Also when the limit has fallen below what was granted.
	l.Limits = func() []threadlimit.Limit { return []threadlimit.Limit{{By: "test", Max: 10}} }
	if err := b.Resize(2); err == nil {
		t.Error("grew beyond the limit")
	}
	require.NoError(t, a.Resize(99))
	require.NoError(t, a.Resize(98))
	wantClaimed(t, l, 99)
}

func TestAShareIsGivenBackOnce(t *testing.T) {
	l := fixed(10)
	a, b := claim(t, l, 4), claim(t, l, 6)
	for range 3 {
		a.Release()
		wantClaimed(t, l, 6)
	}
	for _, n := range []int{100, 4, 0} { // a lane that was shut down needs nothing, whatever it is told
		require.NoError(t, a.Resize(n))
	}
	wantClaimed(t, l, 6)
	b.Release()
	wantClaimed(t, l, 0)

	var none *threadlimit.Share
	require.NoError(t, none.Resize(math.MaxInt))
	none.Release()
}

func TestAForgottenLaneGivesItsShareBack(t *testing.T) {
	type lane struct{ share *threadlimit.Share }
	l := fixed(10)
	forgotten, kept := lane{claim(t, l, 3)}, lane{claim(t, l, 3)}
	claim(t, l, 3)
	runtime.KeepAlive(forgotten)
	await(t, func() bool { return l.Claimed() == 3 })
	runtime.GC()
	wantClaimed(t, l, 3)
	runtime.KeepAlive(kept)
	kept.share.Release()
	wantClaimed(t, l, 0)
}

// await waits for what the collector does in its time.
func await(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); runtime.Gosched() {
		runtime.GC()
		if time.Now().After(end) {
			t.Fatal("the collector does not come")
		}
	}
}

func TestLimitsAreReadWithTheFirstClaimAndBeforeARefusal(t *testing.T) {
	reads, room := 0, 10
	l := &threadlimit.Ledger{Limits: func() []threadlimit.Limit {
		reads++
		return []threadlimit.Limit{{By: "test", Max: room + kept()}}
	}}
	wantReads := func(want int) {
		t.Helper()
		if reads != want {
			t.Errorf("the limits were read %d times, want %d", reads, want)
		}
	}
	a, b := claim(t, l, 5), claim(t, l, 4)
	defer runtime.KeepAlive(b)
	require.NoError(t, a.Resize(2))
	require.NoError(t, a.Resize(6))
	wantReads(1)
	if err := a.Resize(7); err == nil {
		t.Error("granted more than there is room for")
	}
	wantReads(2)
	room = 11 // raised
	require.NoError(t, a.Resize(7))
	wantReads(3)
	room = 5 // lowered, which nobody sees who fits
	require.NoError(t, a.Resize(6))
	require.NoError(t, a.Resize(7))
	wantReads(3)
	if err := a.Resize(8); err == nil {
		t.Error("granted more than there is room for")
	}
	wantReads(4)
	if err := a.Resize(8); err == nil {
		t.Error("granted more than there is room for")
	}
	wantReads(5)
}

// Many claim, grow, shrink and give back at once. The sum is at no time more than there
// is room for, and nothing is left in the end.
func TestNeverMoreIsClaimedThanThereIsRoomFor(t *testing.T) {
	const room = 50
	l := fixed(room)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				s, err := l.Claim("", rand.IntN(room))
				if err != nil {
					continue
				}
				for range 4 {
					_ = s.Resize(rand.IntN(2 * room))
					if n := l.Claimed(); n > room {
						t.Errorf("%d threads are claimed, more than %d", n, room)
					}
				}
				s.Release()
			}
		})
	}
	wg.Wait()
	wantClaimed(t, l, 0)
}

// The limit of the runtime can only be read by setting it; it is the same afterwards.
func TestReadingTheLimitOfTheRuntimeLeavesItAsItIs(t *testing.T) {
	const limit = 9_876
	defer debug.SetMaxThreads(debug.SetMaxThreads(limit))
	if got := threadlimit.MaxThreads(); got != limit {
		t.Errorf("the limit is %d, want %d", got, limit)
	}
	got := debug.SetMaxThreads(limit)
	if got != limit {
		t.Errorf("the limit is %d after it was read, want %d", got, limit)
	}
}

func TestTheProcessHasALimitAndTheLedgerOfAllLanesObeysIt(t *testing.T) {
	limits := threadlimit.System()
	if len(limits) == 0 {
		t.Fatal("no limit was found")
	}
	t.Logf("%+v", limits)
	least := math.MaxInt
	for _, c := range limits {
		if c.By == "" || c.Max <= 0 || c.Others < 0 {
			t.Errorf("a limit that says nothing: %+v", c)
		}
		least = min(least, c.Max)
	}
	s, err := threadlimit.Claim("", 1)
	require.NoError(t, err)
	defer s.Release()
	if _, err := threadlimit.Claim("", least); !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Errorf("a lane that wants all %d threads got %v, want %v", least, err, ioerr.ErrThreadLimit)
	}
}
