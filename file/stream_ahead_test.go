package file_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
)

// background runs fn beside the test; the channel gets its error.
func background(fn func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- fn() }()
	return c
}

// occupy keeps every operation on a file waiting, in a pool with one share for each, until
// release is called.
func occupy(t *testing.T, p *file.Pool, f *file.File) (release func()) {
	t.Helper()
	held, done := make(chan struct{}), make(chan struct{})
	ended := background(func() error {
		return p.Pool().With(context.Background(), f.ID(), func(context.Context, *fileop.File) error {
			close(held)
			<-done
			return nil
		})
	})
	<-held
	release = sync.OnceFunc(func() {
		close(done)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(release)
	return release
}

func TestAReaderReadsAheadAsFarAsItsDepth(t *testing.T) {
	for _, depth := range []int{1, 2, 5} {
		p := newPool(t, file.Config{Threads: lane.Config{Workers: 4}})
		f := stored(t, p, noise(100_000), os.O_RDONLY)
		before := p.Pool().Stats().Lane.Submitted
		r := newReader(t, f, file.StreamConfig{BufferSize: 1000, Depth: depth}.Slow(true))
		for i := range 20 {
			_, err := r.ReadByte() // and i blocks before it
			require.NoError(t, err)
			want := uint64(i + depth)
			require.Eventually(t, func() bool { return p.Pool().Stats().Lane.Submitted-before == want }, 10*time.Second, time.Millisecond)
			_, err = io.CopyN(io.Discard, r, 999)
			require.NoError(t, err)
			if depth == 1 {
				continue
			}
			require.Eventually(t, func() bool { return p.Pool().Stats().Lane.Submitted-before == want+1 }, 10*time.Second, time.Millisecond)
		}
	}
}

func TestAWriterWritesBehindAsFarAsItsDepth(t *testing.T) {
	p := newPool(t, file.Config{Share: 1, Threads: lane.Config{Workers: 4}})
	f := stored(t, p, nil, os.O_RDWR)
	b := newBuffers(t, 3, 1000)
	w, err := file.NewWriter(t.Context(), f, file.StreamConfig{Buffers: b}.Slow(true))
	require.NoError(t, err)
	release := occupy(t, p, f)
	data := noise(10_000)
	n, err := w.Write(data[:3000])
	require.NoError(t, err)
	require.Equal(t, 3000, n, "accepted while nothing can be written")
	wrote := background(func() error {
		_, err := w.Write(data[3000:])
		return err
	})
	release()
	require.NoError(t, <-wrote)
	require.NoError(t, w.Close())
	same(t, f, data, 0)
}

func TestStreamsThatShareBuffersDoNotWaitForOneAnother(t *testing.T) {
	p := newPool(t, file.Config{Threads: lane.Config{Workers: 4}})
	data := noise(300_000)
	b := newBuffers(t, 4, 4096)
	from, to := stored(t, p, data, os.O_RDONLY), stored(t, p, nil, os.O_RDWR)
	r := newReader(t, from, file.StreamConfig{Buffers: b, Depth: 3}.Slow(true))
	w, err := file.NewWriter(t.Context(), to, file.StreamConfig{Buffers: b}.Slow(true))
	require.NoError(t, err)
	require.Equal(t, 4, b.Out())
	n, err := io.Copy(w, r)
	require.NoError(t, err)
	require.EqualValues(t, len(data), n)
	require.NoError(t, w.Close())
	same(t, to, data, 0)

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = file.NewWriter(ctx, to, file.StreamConfig{Buffers: newTaken(t)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// newTaken is buffers of which none is free.
func newTaken(t *testing.T) *file.Buffers {
	b := newBuffers(t, 1, 4096)
	taken := get(t, b)
	t.Cleanup(func() { b.Put(taken) })
	return b
}

func TestAResultIsThereBeforeThoseAfterIt(t *testing.T) {
	p := newPool(t, file.Config{Share: 1, Threads: lane.Config{Workers: 4}})
	data := noise(5000)
	f, g := stored(t, p, data, os.O_RDONLY), stored(t, p, data, os.O_RDONLY)
	release := occupy(t, p, g)
	reqs := []file.ReadRequest{{f, 0, 100}, {g, 0, 100}, {f, 50, 100}}
	for i, got := range p.ReadMany(t.Context(), reqs, file.ReadManyConfig{}.Slow(true)) {
		if i == 0 {
			release() // else the next would not come
		}
		if got.Err != nil || !bytes.Equal(got.Data, data[reqs[i].Offset:][:100]) {
			t.Errorf("%d: %d bytes, %v", i, len(got.Data), got.Err)
		}
	}
}
