package shape

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// blocking is true system calls.
func blocking() []Shape {
	const group = "blocking"
	return []Shape{
		{
			Name: "pread", Group: group, About: "one caller, cached 4 KiB pread",
			Slots: 8, Callers: 1, Needs: peer.Calls,
			run: (*run).pread,
		},
		{
			Name: "pread-64", Group: group, About: "64 callers over 8 slots, cached 4 KiB pread",
			Slots: 8, Callers: 64, Needs: peer.Calls,
			run: (*run).pread,
		},
		{
			Name: "sleep-50us", Group: group, About: "one caller, nanosleep of 50 us",
			Slots: 8, Callers: 1, Needs: peer.Calls, Stamped: true,
			run: (*run).sleep50us,
		},
		{
			Name: "sleep-50us-64", Group: group, About: "64 callers over 8 slots, nanosleep of 50 us",
			Slots: 8, Callers: 64, Needs: peer.Calls, Stamped: true,
			run: (*run).sleep50us,
		},
		{
			Name: "fsync-16", Group: group, About: "16 callers over 4 slots, each writes 4 KiB to a file of its own and syncs it",
			Slots: 4, Callers: 16, Needs: peer.Calls, Stamped: true,
			run: (*run).fsync,
		},
	}
}

const page = 4096

// pread reads pages of a file that is in the page cache. The call captures where,
// as it does in programs.
func (r *run) pread() error {
	const pages = 1024
	dir, err := r.tempDir()
	if err != nil {
		return err
	}
	name := filepath.Join(dir, "pages")
	content := make([]byte, pages*page)
	for i := 0; i < len(content); i += page {
		content[i] = byte(rand.IntN(256))
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	fd := f.Fd()
	return r.same(r.shape.Callers, func(int) caller {
		buf := make([]byte, page)
		return r.capturing(context.Background(), func(_ context.Context, off int) (int, error) {
			return pread(fd, buf, int64(off))
		}, 17*page, pages*page)
	})
}

func (r *run) sleep50us() error {
	fn := func(context.Context) (int, error) { return 0, nanosleep(50 * time.Microsecond) }
	return r.same(r.shape.Callers, func(int) caller { return r.plain(context.Background(), fn, false) })
}

func (r *run) fsync() error {
	dir, err := r.tempDir()
	if err != nil {
		return err
	}
	callers := make([]caller, r.shape.Callers)
	for i := range callers {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint("log", i)))
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		buf := make([]byte, page)
		callers[i] = r.plain(context.Background(), func(context.Context) (int, error) {
			buf[0]++
			n, err := f.WriteAt(buf, 0)
			if err != nil {
				return n, err
			}
			return n, f.Sync()
		}, false)
	}
	return r.loop(callers...)
}
