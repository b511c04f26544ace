package fileop

// File.Warm holds a moving average of how often reads missed the page cache, in the lower
// half, up to always, and above it how many reads in turn were not looked for there. So
// the zero value is a file of which the best is hoped. Two reads at the same time may lose
// one of two steps; nobody minds.
const (
	always      = 1 << 12
	weight      = 16           // of a single read: 1/16
	cold        = always - 410 // misses: below 10 % of hits
	probe       = 16           // of so many reads of a cold file one is looked for
	turn        = 1 << 16
	unavailable = -1 // the kernel, or the file system, cannot tell
)

// tries reports whether the next read is to be looked for in the page cache.
func (f *File) tries() bool {
	w := f.Warm.Load()
	if w < 0 {
		return false
	}
	if w%turn < cold {
		return true
	}
	next := (w/turn + 1) % probe
	f.Warm.CompareAndSwap(w, next*turn+w%turn)
	return next == 0
}

// hit and miss note what came of it.
func (f *File) hit() {
	w := f.Warm.Load()
	if w < 0 {
		return
	}
	if step := w % turn / weight; step > 0 {
		f.Warm.CompareAndSwap(w, w-step)
	}
}

func (f *File) miss() {
	w := f.Warm.Load()
	if w < 0 {
		return
	}
	if step := (always - w%turn) / weight; step > 0 {
		f.Warm.CompareAndSwap(w, w+step)
	}
}
