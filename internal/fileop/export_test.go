package fileop

import (
	"context"

	"github.com/iolane/iolane/internal/interrupt"
)

// What is left of a file that the kernel cannot tell about.
const Unavailable = unavailable

func (f *File) Tries() bool { return f.tries() }
func (f *File) Hit()        { f.hit() }
func (f *File) Miss()       { f.miss() }

// CopyLoop is CopyRange without the kernel's.
func (op *Op) CopyLoop(ctx context.Context, c *interrupt.Call) { op.copyLoop(ctx, c) }
