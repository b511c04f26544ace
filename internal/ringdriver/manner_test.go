package ringdriver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// wakings wakes n goroutines so many times, each of which takes as long as cost says, and
// returns how many times they were a crowd.
func wakings(m *manner, times, n int, cost func(crowd bool) time.Duration) (crowds int) {
	for range times {
		m.begin(n)
		if m.crowd() {
			crowds++
		}
		time.Sleep(time.Duration(n) * cost(m.crowd()))
		m.end()
	}
	return crowds
}

// Law: the manner that costs less is the usual one, from the first trial on; the other is tried
// seldom; and when that costs less some day it becomes the usual one.
func TestTheMannerThatCostsLessIsTheUsualOne(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var m manner
		light := func(crowd bool) time.Duration {
			if crowd {
				return 600
			}
			return 350
		}
		heavy := func(crowd bool) time.Duration {
			if crowd {
				return 5 * time.Microsecond
			}
			return 10 * time.Microsecond
		}
		crowds := wakings(&m, 100_000, 60, light)
		require.Positive(t, crowds)
		require.Less(t, crowds, 150)
		crowds = wakings(&m, 20_000, 20, heavy)
		require.Greater(t, crowds, 20_000-seldom-100)
		crowds = wakings(&m, 20_000, 60, light)
		require.Less(t, crowds, seldom+100)
	})
}

// Law: where a crowd costs 10 ms, since all processors are busy, no trial goes on after the first of
// these.
func TestAHopelessTrialEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var m manner
		crowds := wakings(&m, 100_000, 64, func(crowd bool) time.Duration {
			if crowd {
				return 10 * time.Millisecond / 64
			}
			return time.Microsecond
		})
		require.Positive(t, crowds)
		require.Less(t, crowds, 40)
	})
}

// Law: two manners that cost the same do not take turns.
func TestTheMannerDoesNotChangeForNothing(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var m manner
		require.Less(t, wakings(&m, 100_000, 10, func(bool) time.Duration { return time.Microsecond }), 150)
	})
}
