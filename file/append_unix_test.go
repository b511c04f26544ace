//go:build linux || darwin

package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// A file that was adopted is known to append, too.
func TestAnAdoptedFileThatAppendsIsKnown(t *testing.T) {
	p := newPool(t, file.Config{})
	name := filepath.Join(t.TempDir(), "f")
	own, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(t, err)
	f, err := p.Adopt(own)
	require.NoError(t, err)
	_, err = f.WriteAt(t.Context(), []byte("x"), 0)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
}
