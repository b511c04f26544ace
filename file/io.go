package file

import (
	"context"
	"io"
)

// IO is a file with a context, for functions that know neither; see [File.IO].
type IO struct {
	file *File
	ctx  context.Context //nolint:containedctx // the interfaces that IO implements have no room for one
}

var (
	_ io.ReaderAt = IO{}
	_ io.WriterAt = IO{}
)

// IO returns the file as an io.ReaderAt and io.WriterAt whose operations have the context
// ctx, as for io.NewSectionReader and io.NewOffsetWriter. On a lane.Abandoning a buffer
// must not be used again after an error with Effect Unknown.
func (f *File) IO(ctx context.Context) IO { return IO{file: f, ctx: ctx} }

// ReadAt implements io.ReaderAt.
func (i IO) ReadAt(p []byte, off int64) (int, error) { return i.file.ReadAt(i.ctx, p, off) }

// WriteAt implements io.WriterAt.
func (i IO) WriteAt(p []byte, off int64) (int, error) { return i.file.WriteAt(i.ctx, p, off) }
