package file_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
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

// Law: of many operations those on closed files fail, each naming its own, and no others, whatever
// the lane.
func TestAClosedFileFailsItsOwnOperationsOnly(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		dir := t.TempDir()
		var files [5]*file.File
		for i := range files {
			files[i] = create(t, p, filepath.Join(dir, fmt.Sprint(i)), []byte("abc"))
		}
		closed := map[int]bool{1: true, 3: true}
		for i := range closed {
			require.NoError(t, files[i].Close(t.Context()))
		}
		ops := []file.Op{file.Nop(), file.StatName(dir)}
		needs := []int{0, 0} // the number of the file that is to blame, if it is closed
		add := func(op file.Op, n int) { ops, needs = append(ops, op), append(needs, n) }
		for i, f := range files {
			add(file.ReadAt(f, make([]byte, 3), 0), i)
			add(file.WriteAt(f, []byte("x"), 5), i)
			add(file.CopyRange(f, 10, files[0], 0, 3), i)
			add(file.CopyRange(files[2], 10, f, 0, 3), i)
		}
		err := p.DoAll(t.Context(), ops)
		var first error
		for i := range ops {
			op := &ops[i]
			if !closed[needs[i]] {
				require.NoError(t, op.Err, i)
				continue
			}
			if first == nil {
				first = op.Err
			}
			path, ok := errors.AsType[*fs.PathError](op.Err)
			if !ok || path.Path != filepath.Join(dir, fmt.Sprint(needs[i])) || op.N != 0 ||
				!errors.Is(op.Err, fs.ErrClosed) || !errors.Is(op.Err, ioerr.ErrHandleNotFound) {
				t.Errorf("%d: %d, %v", i, op.N, op.Err)
			}
		}
		require.Equal(t, first, err)
		require.EqualValues(t, 3, ops[2].N)
		require.Equal(t, "abc", string(ops[2].Buf))

		all := []file.Op{file.ReadAt(files[1], make([]byte, 3), 0), file.Sync(files[3])}
		err = p.DoAll(t.Context(), all)
		require.Equal(t, all[0].Err, err)
		require.ErrorIs(t, all[1].Err, fs.ErrClosed)
	})
}
