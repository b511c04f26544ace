package lane

import (
	"strings"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
)

// Ops is a set of kinds of operations.
type Ops uint32

// Has reports whether the kind of the operation is in the set.
func (o Ops) Has(op *Op) bool { return o&(1<<op.Kind) != 0 }

// String names the kinds.
func (o Ops) String() string {
	var names []string
	for k := range fileop.Kinds {
		if o&(1<<k) != 0 {
			names = append(names, k.String())
		}
	}
	return strings.Join(names, " ")
}

// nativeOps is what the rings do.
func (l *Ring) nativeOps() (set Ops) {
	if len(l.rings) == 0 {
		return 0
	}
	for k := range fileop.Kinds {
		if l.rings[0].Serves(&Op{Kind: k}) {
			set |= 1 << k
		}
	}
	return set
}

// serves reports whether an operation is for the ring: whether that can do it, has not
// refused it for this file before, and is the better way.
func (l *Ring) serves(d *ringdriver.Driver, op *Op) bool {
	if !d.Serves(op) {
		return false
	}
	f := op.File
	switch {
	case f == nil:
		return op.Kind == fileop.Nop || op.Kind == fileop.Sleep // others end in an error
	case f.Without.Load()&(1<<op.Kind) != 0:
		return false
	case !f.Seeks && op.Transfers() && op.Offset() != fileop.AtPosition:
		return false // a ring takes no notice of the offset, and the system call refuses it
	case f.Direct:
		return !op.NeedsBounce() // else it takes a copy, or an error
	case op.Kind == fileop.Write:
		return !f.Seeks && op.Size() > 0 // of buffered writes the kernel makes a thread each, and one of nothing a ring does not make
	}
	return true
}
