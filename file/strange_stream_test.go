package file_test

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// asked is a context that panics when it is asked for a value for the n-th time, on whatever
// goroutine that is.
type asked struct {
	context.Context
	left atomic.Int64
}

func (a *asked) Value(key any) any {
	if a.left.Add(-1) == 0 {
		panic("asked")
	}
	return a.Context.Value(key)
}

// tryIt reports the panic of fn, or its error.
func tryIt(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &ioerr.PanicError{Value: r}
		}
	}()
	return fn()
}

// Law: a context that panics beside the user of a stream does not end the process: it is the error of who
// waits for the transfer, and the stream comes to its end with all of its buffers.
func TestAContextThatPanicsBesideAStreamIsAnError(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		defer nothingLeft(t)()
		data := noise(40_000)
		b := newBuffers(t, 4, 4096)
		told := 0
		uses := map[string]func(ctx context.Context, f *file.File) error{
			"reader": func(ctx context.Context, f *file.File) error {
				r, err := file.NewReader(ctx, f, file.StreamConfig{Buffers: b}.Slow(true))
				if err != nil {
					return err
				}
				defer func() { require.NoError(t, r.Close()) }()
				return tryIt(func() error { _, err := io.Copy(io.Discard, r); return err })
			},
			"writer": func(ctx context.Context, f *file.File) error {
				w, err := file.NewWriter(ctx, f, file.StreamConfig{Buffers: b}.Slow(true))
				if err != nil {
					return err
				}
				err = tryIt(func() error { _, err := w.Write(data); return err })
				return errors.Join(err, tryIt(w.Close), tryIt(w.Close))
			},
			"many": func(ctx context.Context, f *file.File) (err error) {
				reqs := make([]file.ReadRequest, 10)
				for i := range reqs {
					reqs[i] = file.ReadRequest{File: f, Offset: int64(i) * 4000, Length: 4000}
				}
				for _, got := range p.ReadMany(ctx, reqs, file.ReadManyConfig{MaxMerged: 1, Depth: 4}.Slow(true)) {
					err = errors.Join(err, got.Err)
				}
				return err
			},
		}
		f := stored(t, p, data, os.O_RDWR)
		for name, use := range uses {
			for n := range int64(40) {
				ctx := &asked{Context: context.Background()}
				ctx.left.Store(n + 1)
				err := tryIt(func() error { return use(ctx, f) })
				if e, ok := errors.AsType[*ioerr.PanicError](err); ok {
					require.Equal(t, "asked", e.Value)
					told++
				} else {
					require.NoError(t, err)
				}
				require.Zero(t, b.Out(), name)
			}
		}
		require.NotZero(t, told)
		running(t, p, 0)
	})
}
