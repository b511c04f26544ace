package pool_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
)

type moodyDone struct {
	context.Context
	left *int
}

func (m moodyDone) Done() <-chan struct{} {
	if *m.left--; *m.left == 0 {
		panic("in no mood")
	}
	return m.Context.Done()
}

type mute struct{ context.Context }

func carriers(t *testing.T) map[string]func() lane.Lane {
	return map[string]func() lane.Lane{
		"pinned": func() lane.Lane { l, err := lane.NewPinned(one); require.NoError(t, err); return l },
		"abandoning": func() lane.Lane {
			l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 1}})
			require.NoError(t, err)
			return l
		},
	}
}

func calm(f func()) { defer func() { _ = recover() }(); f() }

type moodyVar struct {
	context.Context
	mood *atomic.Bool
	in   string
}

func (m moodyVar) Err() error {
	if m.in == "Err" && m.mood.Load() {
		panic("in no mood")
	}
	return m.Context.Err()
}

type sleepyErr struct{ context.Context }

func (c sleepyErr) Err() error { time.Sleep(300 * time.Millisecond); return nil }

func (mute) Value(any) any { panic("mute") }

// notBackground is a context that never ends, and is not context.Background().
type notEmpty struct{}

var notBackground = context.WithValue(bg, notEmpty{}, 1)
