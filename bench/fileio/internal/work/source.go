package work

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/bench/fileio/internal/hist"
	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/internal/fileop"
)

// Source gives out the operations of a case and takes them back. A slot is one operation
// at a time: [Source.Next], the operation, [Source.Done], and so on until Next says no.
// Each slot has one user at a time; the slots of one Source may be used at once.
type Source struct {
	c       Case
	file    *fileop.File
	bufs    Buffers
	pattern *Pattern
	check   bool // every word of what is read; else the first sector
	began   time.Time
	ended   time.Duration // after began; 0: not yet
	used    time.Duration // processor time before began, and since, when it has ended
	timer   *time.Timer

	slots   []slot
	next    atomic.Int64 // block or sleep to come
	over    atomic.Bool  // the time is
	failed  atomic.Bool
	failure atomic.Pointer[error]
}

// slot fills cache lines of its own.
type slot struct {
	random uint64
	asked  time.Duration // since the Source began; 0: this one is not timed
	turn   uint32
	ops    int64
	hist   *hist.Hist
	_      [88]byte
}

// nopSample: of so many operations that do nothing, one is timed. Reading the clock would
// be a good part of the others.
const nopSample = 64

// NewSource makes the operations of a case for so many slots. With check every word that
// is read is looked at; without it, the first sector of each block.
func NewSource(c Case, slots int, f *fileop.File, bufs Buffers, check bool) *Source {
	s := &Source{c: c, file: f, bufs: bufs, pattern: NewPattern(), check: check}
	if c.Kind == Sleep {
		return s // no histogram, and nothing for each: there are many
	}
	s.slots = make([]slot, slots)
	seed := uint64(time.Now().UnixNano())
	for i := range s.slots {
		s.slots[i].random = seed + uint64(i)<<32
		s.slots[i].hist = new(hist.Hist)
	}
	if c.Kind == Write {
		for _, b := range bufs.Each {
			s.pattern.Fill(b, 0)
		}
	}
	return s
}

// Case is what the operations are of.
func (s *Source) Case() *Case { return &s.c }

// Start begins to count time: the engine is ready. Once, before the first Next.
func (s *Source) Start() {
	if s.c.Time > 0 && !s.c.Sequential {
		s.timer = time.AfterFunc(s.c.Time, s.Stop)
	}
	s.used = system.CPUTime()
	s.began = time.Now()
}

// End ends that: all operations have come back, and nothing has been taken down.
func (s *Source) End() {
	s.ended = time.Since(s.began)
	s.used = system.CPUTime() - s.used
	if s.timer != nil {
		s.timer.Stop()
	}
}

// Spent is the time between the two, and that of the processors.
func (s *Source) Spent() (elapsed, processors time.Duration) { return s.ended, s.used }

// Stop makes Next say no, but to the first slot when that has not done anything yet.
func (s *Source) Stop() { s.over.Store(true) }

// Fail makes Next say no to all, and keeps the first error.
func (s *Source) Fail(err error) {
	s.failure.CompareAndSwap(nil, &err)
	s.failed.Store(true)
	s.over.Store(true)
}

// Err is the first error.
func (s *Source) Err() error {
	if p := s.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// Next describes the next operation of a slot. False: there are no more.
func (s *Source) Next(i int, op *fileop.Op) bool {
	if s.over.Load() && s.ends(i) {
		return false
	}
	if s.c.Kind == Sleep {
		*op = fileop.Op{Kind: fileop.Sleep, Off: int64(s.c.Sleep)}
		return s.next.Add(1) <= s.c.Count
	}
	at := &s.slots[i]
	if s.c.Kind == Nop {
		*op = fileop.Op{}
		at.asked = 0
		if at.turn++; at.turn%nopSample == 0 {
			at.asked = time.Since(s.began)
		}
		return true
	}
	off, ok := s.offset(at)
	if !ok {
		return false
	}
	*op = fileop.Op{Kind: fileop.Read, Full: true, File: s.file, Buf: s.bufs.Each[i], Off: off}
	if s.c.Kind == Write {
		op.Kind = fileop.Write
		s.pattern.Stamp(op.Buf, off)
	}
	at.asked = time.Since(s.began)
	return true
}

// ends tells whether a slot is to end now that time is over. What has been measured is then
// at least one operation, however little time there was.
func (s *Source) ends(i int) bool {
	return i > 0 || s.failed.Load() || s.slots == nil || s.slots[0].ops > 0
}

func (s *Source) offset(at *slot) (int64, bool) {
	blocks := s.c.Blocks()
	if s.c.Sequential {
		n := s.next.Add(1) - 1
		return n * int64(s.c.Block), n < blocks
	}
	// splitmix64, and the high half of a product instead of a division.
	at.random += 0x9E3779B97F4A7C15
	z := at.random
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return int64((z>>32)*uint64(blocks)>>32) * int64(s.c.Block), true
}

// Done takes an operation back, and looks at what came of it.
func (s *Source) Done(i int, op *fileop.Op) {
	if op.Err != nil {
		s.Fail(fmt.Errorf("%s at %d: %w", s.c.Kind, op.Off, op.Err))
		return
	}
	if s.c.Kind == Sleep {
		return
	}
	at := &s.slots[i]
	if at.asked != 0 {
		at.hist.Add(time.Since(s.began) - at.asked)
	}
	at.ops++
	if s.c.Kind == Nop {
		return
	}
	if op.N != int64(s.c.Block) {
		s.Fail(fmt.Errorf("%s at %d: %d of %d bytes: %w", s.c.Kind, op.Off, op.N, s.c.Block, io.ErrUnexpectedEOF))
		return
	}
	if s.c.Kind == Read {
		s.look(op)
	}
}

func (s *Source) look(op *fileop.Op) {
	check := s.pattern.CheckFirst
	if s.check {
		check = s.pattern.Check
	}
	if err := check(op.Buf, op.Off); err != nil {
		s.Fail(err)
	}
}

// Total is how many operations have ended well, and how long they took.
func (s *Source) Total() (ops int64, times *hist.Hist) {
	times = new(hist.Hist)
	if s.c.Kind == Sleep {
		return min(s.next.Load(), s.c.Count), times
	}
	for i := range s.slots {
		ops += s.slots[i].ops
		times.Merge(s.slots[i].hist)
	}
	return ops, times
}

// File is what the operations are on; nil if they are on none.
func (s *Source) File() *fileop.File { return s.file }

// Buffers are what the operations use.
func (s *Source) Buffers() Buffers { return s.bufs }
