package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"syscall"

	"github.com/iolane/iolane/pool"
)

// noResource is what the pool holds: nothing.
type noResource = struct{}

// sum is the SHA-256 of a file.
type sum [sha256.Size]byte

// hashed is what hashing a file comes to.
type hashed struct {
	sum  sum
	size int64
}

// hasher hashes files on a pool.
type hasher struct {
	files *pool.Pool[noResource]
	tally *tally
	spare chan *scratch // as many are made as there are calls at a time
}

type scratch struct {
	hash hash.Hash
	buf  [128 << 10]byte
}

// newHasher makes a hasher for at most so many calls at a time.
func newHasher(files *pool.Pool[noResource], t *tally, calls int) *hasher {
	return &hasher{files: files, tally: t, spare: make(chan *scratch, calls)}
}

// hash opens, hashes and closes a file in one call. flags are added to those of
// the open.
func (h *hasher) hash(ctx context.Context, path string, flags int) (hashed, error) {
	open := func(context.Context) (*os.File, error) {
		return os.OpenFile(path, os.O_RDONLY|openRegular|flags, 0)
	}
	return pool.Scoped(ctx, h.files, open, h.read, (*os.File).Close)
}

// read hashes an open file. What is no regular file, or no longer one, is
// refused, since it might never end.
func (h *hasher) read(_ context.Context, f *os.File) (r hashed, err error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return r, err
	case info.IsDir():
		return r, syscall.EISDIR
	case !info.Mode().IsRegular():
		return r, errNotRegular
	}
	var s *scratch
	select {
	case s = <-h.spare:
		s.hash.Reset()
	default:
		s = &scratch{hash: sha256.New()}
	}
	defer func() { h.spare <- s }() // there is room: it was made for as many calls
	for {
		n, err := f.Read(s.buf[:])
		s.hash.Write(s.buf[:n])
		r.size += int64(n)
		h.tally.read.Add(int64(n))
		if errors.Is(err, io.EOF) {
			s.hash.Sum(r.sum[:0])
			return r, nil
		}
		if err != nil {
			return r, err
		}
	}
}

var errNotRegular = errors.New("not a regular file")
