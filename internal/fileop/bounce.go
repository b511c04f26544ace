package fileop

// maxBounce is how much of an unaligned read goes through a bounce buffer at a time; a
// plain one that is longer comes out as short.
const maxBounce = 1 << 20

// Bounce stands in for a direct read that is not aligned: Op reads the blocks around what
// is wanted into a buffer of its own, and Took copies that to where it belongs. An engine
// makes the system call that Op describes, in place of that of the operation itself, and
// tells Took instead of Op.Took.
type Bounce struct {
	Op Op // a plain aligned Read of one buffer

	whole *Op    // for which it stands in
	room  []byte // aligned, a multiple of what offsets are aligned to
	skip  int    // bytes at the start of Op.Buf that nobody wants
}

// Bounce returns the stand-in for the next system call of an operation that
// [Op.NeedsBounce]; when Took has reported that the operation has not ended, it is to be
// asked again. The error is an *AlignmentError: a write, or a read at the file's own
// position.
func (op *Op) Bounce() (*Bounce, error) {
	b := &Bounce{whole: op}
	return b, b.next()
}

// next describes the next read of blocks.
func (b *Bounce) next() error {
	op, f := b.whole, b.whole.File
	off := op.Offset()
	if op.Kind != Read || off < 0 {
		return op.misaligned()
	}
	block := f.offAlign()
	b.skip = int(off % int64(block))
	size := roundUp(int(min(int64(b.skip)+op.Left(), max(maxBounce, int64(block)))), block)
	if len(b.room) < size {
		b.room = alignedBuffer(size, f.memAlign())
	}
	b.Op = Op{
		Kind: Read, Interruptible: op.Interruptible, File: f,
		Buf: b.room[:size], Off: off - int64(b.skip),
	}
	return nil
}

// Took is Op.Took for the operation that b stands in for. Fewer bytes than the block begins
// with are the end of the file.
func (b *Bounce) Took(n int, err error) (ended bool) {
	if err != nil {
		return b.whole.Took(0, err)
	}
	return b.whole.Took(b.whole.fill(b.Op.Buf[min(b.skip, n):n]), nil)
}

// fill copies to where the next bytes of the transfer belong, as many as there is room
// for.
func (op *Op) fill(from []byte) (n int) {
	if !op.Vectored() {
		return copy(op.Rest(), from)
	}
	for _, to := range op.Vectors() {
		n += copy(to, from[n:])
	}
	return n
}

func roundUp(n, block int) int { return (n + block - 1) / block * block }

// alignedBuffer returns size bytes at an address that is a multiple of align.
func alignedBuffer(size, align int) []byte {
	room := make([]byte, size+align)
	skip := -address(room) % uintptr(align)
	return room[skip:][:size:size]
}
