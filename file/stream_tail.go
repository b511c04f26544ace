package file

// This file is the two ends of what a Writer writes to a direct file, where they are not
// aligned: what shares an aligned piece with them has to be written with them.

// head makes the block at hand begin where the file is aligned, with what is in front of
// the first byte.
func (w *Writer) head() {
	_, unit := w.s.file.Alignment()
	w.n = int(w.base % int64(unit))
	if w.n == 0 {
		return
	}
	w.base -= int64(w.n)
	w.clean = w.n
	clear(w.cur.buf[:w.n])
	if size, regular := w.size(); !regular || size > w.base {
		w.read(w.cur.buf[:w.n], w.base, unit)
	}
}

// tail writes the block at hand, with what comes after it in the file or with zeros, and
// then what it has made the file longer is taken off. What is not a whole piece stays at
// hand, to be written again when more comes. Nothing is in flight, so the size of the file
// is what it will be.
func (w *Writer) tail(unit int) {
	b, n, base := w.cur, w.n, w.base
	whole := n - n%unit
	padded := whole + unit
	end := base + int64(n)
	size, regular := w.size()
	clear(b.buf[n:padded])
	if !regular || size > end {
		w.read(b.buf[n:padded], end, unit)
	}
	if w.err != nil {
		return
	}
	w.n = padded
	w.send(false)
	w.s.first()
	if w.cur = b; b.err != nil {
		w.err = at(base+min(b.op.N, int64(n)), b.err)
		return
	}
	if regular && size < base+int64(padded) {
		if w.err = w.s.file.Truncate(w.s.ctx, max(size, end), w.s.opts...); w.err != nil {
			return
		}
	}
	copy(b.buf, b.buf[whole:n])
	w.base, w.n, w.clean = base+int64(whole), n-whole, n-whole
}

// size is that of the file, if it is one and no device.
func (w *Writer) size() (size int64, regular bool) {
	info, err := w.s.file.Stat(w.s.ctx, w.s.opts...)
	if err != nil && w.err == nil {
		w.err = err
	}
	return info.Size, info.Mode.IsRegular()
}

// read reads what is in the file at off, within one aligned piece, into buf; what is not
// there stays as it is.
func (w *Writer) read(buf []byte, off int64, unit int) {
	if w.err != nil {
		return
	}
	memory, _ := w.s.file.Alignment()
	skip := off % int64(unit)
	op := ReadAt(w.s.file, alignedTo(unit, memory), off-skip)
	if err := w.s.file.pool.Do(w.s.ctx, &op, w.s.opts...); err != nil {
		w.err = at(off, err)
		return
	}
	if op.N > skip {
		copy(buf, op.Buf[skip:op.N])
	}
}
