package file

import (
	"cmp"
	"slices"
	"time"

	"github.com/iolane/iolane/internal/fileop"
)

// merged is one read for one or several requests.
type merged struct {
	first int  // the request that needs it first
	users int  // requests that it is still to be used for
	many  bool // they do not all want the same
	alone bool // started with nothing else in flight
	file  *File

	from, to int64

	op    Op
	room  []byte // where op reads to
	err   error  // of op
	took  time.Duration
	ended bool
}

// planned is how a request will be answered: by a read, or, if there is none, at once.
type planned struct {
	read *merged
	err  error
}

// plan decides about the next requests: as many as fit into the window, at least one.
func (m *readMany) plan() {
	start, size := m.next, int64(0)
	for m.next < len(m.reqs) && (m.next == start || m.next-start < maxPlanned && size+int64(m.reqs[m.next].Length) <= int64(m.config.Window)) {
		r := &m.reqs[m.next]
		err := r.check(m.next)
		if err == nil {
			size += int64(r.Length)
		}
		m.plans = append(m.plans, planned{err: err})
		m.next++
	}
	of := m.plans[len(m.plans)-(m.next-start):]
	reads := merge(m.reqs[start:m.next], of, m.config)
	for _, x := range reads {
		x.first += start
	}
	slices.SortFunc(reads, byFirst)
	m.reads = append(m.reads, reads...)
}

// maxPlanned bounds what is planned of requests that are empty or nearly so.
const maxPlanned = 1 << 14

func byFirst(a, b *merged) int { return cmp.Compare(a.first, b.first) }

// merge makes reads for requests and puts them into their plans. In the order of files and
// offsets each request joins the last read, or makes a new one.
func merge(reqs []ReadRequest, of []planned, c ReadManyConfig) (reads []*merged) {
	ranks := make(map[*fileop.File]int)
	order := make([]int, 0, len(reqs))
	for i := range reqs {
		if of[i].err != nil || reqs[i].Length == 0 {
			continue
		}
		if _, ok := ranks[reqs[i].File.file]; !ok {
			ranks[reqs[i].File.file] = len(ranks)
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &reqs[i], &reqs[j]
		return cmp.Or(
			cmp.Compare(ranks[a.File.file], ranks[b.File.file]), cmp.Compare(a.Offset, b.Offset),
			cmp.Compare(b.Length, a.Length), cmp.Compare(i, j), // the longest first, so that the others are within it
		)
	})
	var last *merged
	for _, i := range order {
		r := &reqs[i]
		from, to := r.File.whole(r.Offset, r.Offset+int64(r.Length))
		if last == nil || last.file.file != r.File.file || !last.join(from, to, c) {
			last = &merged{first: i, file: r.File, from: from, to: to}
			reads = append(reads, last)
		}
		last.many = last.many || last.from != from || last.to != to
		last.first = min(last.first, i)
		last.users++
		of[i].read = last
	}
	return reads
}

// join makes a read longer for one more request, which does not begin before it, if that may
// be.
func (x *merged) join(from, to int64, c ReadManyConfig) bool {
	if to <= x.to {
		return true
	}
	if from-x.to > int64(c.MaxGap) || to-x.from > int64(c.MaxMerged) {
		return false
	}
	x.many = true
	x.to = to
	return true
}

// size is how many bytes are read.
func (x *merged) size() int64 { return x.to - x.from }

// whole is the aligned piece of a direct file that a range lies in, and else the range.
func (f *File) whole(from, to int64) (int64, int64) {
	_, unit := f.Alignment()
	u := int64(unit)
	return from - from%u, (to + u - 1) / u * u
}
