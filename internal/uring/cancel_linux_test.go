//go:build amd64 || 386 || arm64

package uring

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Operations of all kinds are cancelled at random moments. Each is told once; what was
// read, opened or waited for is all accounted for.
func TestCancellationsAtRandomMoments(t *testing.T) {
	total := 10000
	if raceDetector {
		total = 2000
	}
	random := rand.New(rand.NewPCG(1, 2))
	const blocks, size = 64, 4096
	f := numbered(t, blocks, size)
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	p := pipe(t)
	r := live(t, Config{Slots: 64})
	type pending struct {
		slot Slot
		kind int
		buf  []byte
		off  int64
	}
	var table [64]pending
	var order []Slot
	begun, told, sent, got, opened, waiting := 0, 0, 0, 0, 0, 0
	outcomes := map[Cancel]int{}
	var leftOpen []int
	done := func(c Completion) {
		o := &table[c.Slot.Index()]
		told++
		if o.kind == 3 {
			waiting--
		}
		outcomes[c.Cancel]++
		switch {
		case c.Res == -int32(errCANCELED) || c.Res == -int32(errINTR):
			if c.Cancel == NotCancelled {
				t.Fatalf("kind %d: cancelled by nobody", o.kind)
			}
		case o.kind == 0 && (c.Res != size || !right(o.buf, o.off)):
			t.Fatal("read:", c)
		case o.kind == 1 && c.Res != 1:
			t.Fatal("pipe:", c)
		case o.kind == 1:
			got++
		case o.kind == 2 && c.Res != -int32(errTIME):
			t.Fatal("timeout:", c)
		case o.kind == 3 && c.Res < 0:
			t.Fatal("open:", c)
		case o.kind == 3: // a late success
			leftOpen = append(leftOpen, int(c.Res))
			opened++
		}
		o.buf = nil
	}
	for told < total {
		for begun < total {
			s, ok := r.Take()
			if !ok {
				break
			}
			begun++
			o := &table[s.Index()]
			*o = pending{slot: s, kind: random.IntN(4), off: int64(random.IntN(blocks)) * size}
			order = append(order, s)
			switch o.kind {
			case 0:
				o.buf = make([]byte, size)
				r.Read(s, FD(f.Fd()), o.buf, o.off)
			case 1:
				o.buf = make([]byte, 1)
				r.Read(s, FD(p.r.Fd()), o.buf, -1)
			case 2:
				r.Timeout(s, time.Duration(random.IntN(2000))*time.Microsecond)
			case 3:
				if waiting > 4 { // each has a worker
					r.Timeout(s, time.Millisecond)
					o.kind = 2
					break
				}
				waiting++
				openat(r, s, fifo, syscall.O_RDONLY, 0) // waits for a writer
			}
			if random.IntN(5) == 0 {
				require.NoError(t, r.Submit())
			}
		}
		for range random.IntN(64) {
			if len(order) > 0 {
				i := random.IntN(len(order))
				if r.Cancel(order[i]) != NotNow {
					order = append(order[:i], order[i+1:]...)
				}
			}
		}
		switch random.IntN(6) {
		case 0:
			_, err := p.w.Write([]byte{1})
			require.NoError(t, err)
			sent++
		case 1: // for a moment the FIFO has a writer
			if fd, err := syscall.Open(fifo, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err == nil {
				_ = syscall.Close(fd)
			}
		}
		require.NoError(t, r.Enter(All, 1, time.Millisecond))
		r.Reap(done)
		for _, fd := range leftOpen {
			_ = syscall.Close(fd)
		}
		leftOpen = nil
	}
	if told != total || r.Busy() != 0 || r.cancels != 0 || r.Stats().Stray != 0 {
		t.Errorf("%d begun, %d told, %d busy: %+v", begun, told, r.Busy(), r.Stats())
	}
	// What was sent and not read by an operation is still in the pipe.
	require.NoError(t, p.w.Close())
	n, _ := syscall.Read(int(p.r.Fd()), make([]byte, sent+1))
	if got+max(n, 0) != sent {
		t.Errorf("%d bytes sent, %d read, %d left", sent, got, n)
	}
	t.Log(outcomes, "opened", opened)
	_ = os.Remove(fifo)
}
