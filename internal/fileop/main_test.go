package fileop_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/rawio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// done does the operation, which must not fail.
func done(t testing.TB, op *fileop.Op) *fileop.Op {
	t.Helper()
	op.Do(t.Context(), nil)
	if op.Err != nil {
		t.Fatalf("kind %d: %v after %d", op.Kind, op.Err, op.N)
	}
	return op
}

func random(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	return p
}

// open opens the file as the engine does.
func open(t testing.TB, path string, flags int) *fileop.File {
	t.Helper()
	op := done(t, &fileop.Op{Kind: fileop.Open, Flags: int32(flags), Mode: 0o600, More: &fileop.More{Path: path}})
	f := &fileop.File{Name: path, FD: uintptr(op.N)}
	t.Cleanup(func() { must(t, rawio.Close(f.FD)) })
	must(t, fileop.Describe(f))
	return f
}

// fileOf makes a file with these bytes in it.
func fileOf(t testing.TB, data []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, data, 0o600))
	return path
}
