package file_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

func TestWhatIsCalledOffSaysWhy(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		off := func(err error, outcome ioerr.Outcome, why error) {
			t.Helper()
			e, ok := errors.AsType[*ioerr.Error](err)
			if !ok || e.Outcome != outcome || e.Effect != ioerr.None || !errors.Is(err, why) {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		ops := []file.Op{file.Sleep(time.Hour)}
		off(p.DoAll(ctx, ops), ioerr.TimedOut, context.DeadlineExceeded)
		off(ops[0].Err, ioerr.TimedOut, context.DeadlineExceeded)

		why := errors.New("why")
		ctx, end := context.WithCancelCause(t.Context())
		ended := start(func() error {
			op := file.Sleep(time.Hour)
			return p.Do(ctx, &op)
		})
		running(t, p, 1)
		end(why)
		off(<-ended, ioerr.Cancelled, why)

		ended = start(func() error { return p.DoAll(context.Background(), []file.Op{file.Nop(), file.Sleep(time.Hour)}) })
		require.Eventually(t, func() bool { s := p.Pool().Stats().Lane; return s.Running == 1 && s.Waiting == 0 }, 10*time.Second, time.Millisecond)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, p.Shutdown(now))
		if err := <-ended; !errors.Is(err, ioerr.ErrShutdown) {
			t.Error(err)
		}
	})
}

func TestSingleTransfersAndTheRest(t *testing.T) {
	p := newPool(t, file.Config{})
	ctx := t.Context()
	f := create(t, p, filepath.Join(t.TempDir(), "f"), []byte("abc"))
	for _, c := range []struct {
		op   file.Op
		want int64
	}{
		{file.Pwrite(f, []byte("de"), 3), 2}, {file.Pread(f, make([]byte, 9), 1), 4}, {file.Pread(f, make([]byte, 9), 5), 0},
		{file.Readv(f, nil, 0), 0}, {file.Writev(f, nil, 0), 0}, {file.Nop(), 0}, {file.Sleep(0), 0},
	} {
		if err := p.Do(ctx, &c.op); err != nil || c.op.N != c.want {
			t.Errorf("%+v: %d, %v", c.op, c.op.N, err)
		}
	}
	if err := f.Allocate(ctx, 0, 10000); err == nil {
		info, err := f.Stat(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 10000, info.Size)
	} else if !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}

	r, w, err := os.Pipe()
	require.NoError(t, err)
	reader, err := p.Adopt(r)
	require.NoError(t, err)
	_, err = w.WriteString("x")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	buf := make([]byte, 5)
	n, err := reader.Read(ctx, buf)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = reader.Read(ctx, buf)
	if n != 0 || err != io.EOF {
		t.Error(n, err)
	}
}
