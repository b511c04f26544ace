package lane_test

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
)

// locking is a call that locks its thread, or not, and remembers which one that was.
type locking struct {
	*task
	locks bool
	on    int
}

func (k *locking) Run(lane.Thread) {
	if k.locks {
		runtime.LockOSThread()
	}
	k.on = syscall.Gettid()
}

// Law: a call that locks its thread and changes it (a namespace, a mask) without putting
// that back takes the thread along: no later call runs on it.
func TestACallThatKeepsItsThreadLockedTakesItAlong(t *testing.T) {
	l := abandoning(t, lane.AbandoningConfig{})
	taken := make(map[int]bool)
	for i := range count(200, 5000) {
		k := &locking{task: newTask(), locks: i%8 == 0}
		require.NoError(t, l.Carry(t.Context(), lane.Call{}, k))
		if taken[k.on] {
			t.Fatalf("call %d runs on a thread that an earlier one has locked", i)
		}
		if k.locks {
			taken[k.on] = true
		}
	}
	shut(t, l)
}
