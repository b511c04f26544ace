//go:build amd64 || 386 || arm64

package uring

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// BenchmarkNop: the price of an operation, by how many are submitted at a time.
func BenchmarkNop(b *testing.B) {
	for _, batch := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			r := live(b, Config{Slots: 512, Entries: 512})
			told := 0
			done := func(Completion) { told++ }
			b.ReportAllocs()
			for n := 0; n < b.N; n += batch {
				for range batch {
					s, _ := r.Take()
					r.Nop(s)
				}
				if err := r.Enter(All, batch, -1); err != nil {
					b.Fatal(err)
				}
				r.Reap(done)
			}
		})
	}
}

// BenchmarkTable: what of that is ours, without a system call.
func BenchmarkTable(b *testing.B) {
	f := newFake()
	r, err := newRing(idle{f}, Config{Slots: 64})
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 4096)
	done := func(Completion) {}
	b.ReportAllocs()
	for n := 0; n < b.N; n += 64 {
		for range 64 {
			s, _ := r.Take()
			r.Read(s, 3, buf, 0)
		}
		if err := r.Submit(); err != nil {
			b.Fatal(err)
		}
		r.Reap(done)
	}
}

// idle is a kernel that completes everything at once.
type idle struct{ *fake }

func (k idle) enter(_ int, submit, _, _ uint32, _ *extArg, _ bool) (int, syscall.Errno) {
	head := k.word(0)
	for range submit {
		k.put(cqe{userData: k.entry(*head).userData})
		*head++
	}
	return int(submit), 0
}

// BenchmarkCachedRead: 4 KiB at random from a file that is in the page cache.
func BenchmarkCachedRead(b *testing.B) {
	const blocks, size = 4096, 4096
	f := numbered(b, blocks, size)
	fd := int(f.Fd())
	offset := func() int64 { return int64(rand.IntN(blocks)) * size }
	b.Run("pread", func(b *testing.B) {
		buf := make([]byte, size)
		b.ReportAllocs()
		for b.Loop() {
			if n, err := syscall.Pread(fd, buf, offset()); n != size {
				b.Fatal(n, err)
			}
		}
	})
	for _, batch := range []int{1, 8} {
		b.Run(fmt.Sprint("ring/batch=", batch), func(b *testing.B) {
			r := live(b, Config{Slots: 64})
			bufs := make([][]byte, 64)
			for i := range bufs {
				bufs[i] = make([]byte, size)
			}
			done := func(c Completion) {
				if c.Res != size {
					b.Fatal(c)
				}
			}
			b.ReportAllocs()
			for n := 0; n < b.N; n += batch {
				for range batch {
					s, _ := r.Take()
					r.Read(s, FD(fd), bufs[s.Index()], offset())
				}
				if err := r.Enter(All, batch, -1); err != nil {
					b.Fatal(err)
				}
				r.Reap(done)
			}
		})
	}
}

// BenchmarkTimers: an operation is one timer of 100 ms, of as many as there can be.
func BenchmarkTimers(b *testing.B) {
	r := live(b, Config{Slots: 50000, Entries: 1024})
	done := func(Completion) {}
	for n := 0; n < b.N; {
		for n < b.N {
			s, ok := r.Take()
			if !ok {
				if r.Filled() == 0 {
					break
				}
				if err := r.Submit(); err != nil {
					b.Fatal(err)
				}
				continue
			}
			r.Timeout(s, 100*time.Millisecond)
			n++
		}
		if err := r.Enter(All, 64, -1); err != nil {
			b.Fatal(err)
		}
		r.Reap(done)
	}
}

// BenchmarkWake: from Wake to the return of a driver that sleeps, and back.
func BenchmarkWake(b *testing.B) {
	r := live(b, Config{})
	back := make(chan struct{})
	go func() {
		for range b.N {
			r.Wake()
			<-back
		}
	}()
	for range b.N {
		for before := r.Stats().Wakeups; r.Stats().Wakeups == before; {
			if err := r.Enter(All, 1, -1); err != nil {
				b.Fatal(err)
			}
			r.Reap(nil)
		}
		back <- struct{}{}
	}
}
