package work

import "github.com/iolane/iolane/bench/fileio/internal/system"

// Buffers are what operations read into and write from.
type Buffers struct {
	Each  [][]byte
	Whole []byte // what they are parts of, where that is one piece
	Free  func() error
}

// MapBuffers cuts n buffers out of one mapping. Their sizes are a multiple of the page, so
// they suit direct transfers.
func MapBuffers(n, size int, huge bool) (Buffers, error) {
	if n == 0 || size == 0 {
		return Buffers{Free: func() error { return nil }}, nil
	}
	mem, err := system.Map(n*size, huge)
	if err != nil {
		return Buffers{}, err
	}
	b := Buffers{Whole: mem, Free: func() error { return system.Unmap(mem) }}
	for i := range n {
		b.Each = append(b.Each, mem[i*size:(i+1)*size:(i+1)*size])
	}
	return b, nil
}
