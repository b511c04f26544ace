package file_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
)

// kind is a lane to run the same program on. A new one is one line in kinds.
type kind struct {
	name       string
	make       func() (lane.Lane, error)
	interrupts bool // file.Config.Interrupt
	leaves     bool // a caller leaves an operation that does not end
	ring       bool // transfers are called off without a signal
}

func kinds() []kind {
	c := lane.Config{Workers: 4}
	return []kind{
		{name: "threads", make: func() (lane.Lane, error) { return lane.NewThreads(c) }},
		{name: "threads-interrupt", make: func() (lane.Lane, error) { return lane.NewThreads(c) }, interrupts: true},
		{name: "sharded", make: func() (lane.Lane, error) { return lane.NewSharded(lane.ShardedConfig{Config: c, Shards: 2}) }},
		{name: "abandoning", make: func() (lane.Lane, error) { return lane.NewAbandoning(lane.AbandoningConfig{Config: c}) }, leaves: true},
		{name: "abandoning-interrupt", make: func() (lane.Lane, error) { return lane.NewAbandoning(lane.AbandoningConfig{Config: c}) }, interrupts: true},
		{name: "pinned", make: func() (lane.Lane, error) { return lane.NewPinned(lane.PinnedConfig{Config: c}) }},
		{name: "pinned-interrupt", make: func() (lane.Lane, error) { return lane.NewPinned(lane.PinnedConfig{Config: c}) }, interrupts: true},
		{name: "ring", make: func() (lane.Lane, error) { return lane.NewRing(lane.RingConfig{Config: c}) }, ring: true},
		{name: "ring-interrupt", make: func() (lane.Lane, error) { return lane.NewRing(lane.RingConfig{Config: c}) }, interrupts: true, ring: true},
		{name: "inline", make: func() (lane.Lane, error) { return lane.NewInline(""), nil }},
	}
}

// onEachLane runs a test on a pool on each kind of lane.
func onEachLane(t *testing.T, test func(t *testing.T, k kind, p *file.Pool)) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			l, err := k.make()
			require.NoError(t, err)
			p, err := file.NewPool(file.Config{Lane: l, OwnsLane: true, Interrupt: k.interrupts})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, p.Close()) })
			test(t, k, p)
		})
	}
}

// start runs fn in the background; the channel gets its error.
func start(fn func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- fn() }()
	return c
}

// running waits until so many calls run on the lane of the pool.
func running(t *testing.T, p *file.Pool, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return p.Pool().Stats().Lane.Running == n }, 10*time.Second, 100*time.Microsecond)
}
