//go:build unix

package lanetest

import (
	"context"
	"os"
	"sync"
	"syscall"

	"github.com/iolane/iolane/lane"
)

// The calls sit in read(2) on an empty pipe, in the kernel, each with its thread.
func blockingCallsKeepTheBound(h *hall) {
	h.use(lane.Config{Workers: 4, Queue: 16})
	r, w, err := os.Pipe()
	if err != nil {
		h.Fatalf("%v", err)
	}
	h.Cleanup(func() { _ = r.Close() })
	defer func() { _ = w.Close() }()
	fd := int(r.Fd()) // in blocking mode from here on

	callers := h.slots
	if !h.opt.NoQueue {
		callers += 15
	}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			err := h.call(h.ctx, lane.Call{}, func() {
				var order int64
				h.begin(&order)
				readByte(h, fd)
				h.end()
			})
			if err != nil {
				h.Errorf("a caller for whom there was a place got: %v", err)
			}
		})
	}
	h.await("a call is in each slot", func() bool { return h.inside.Load() >= int64(h.slots) })
	if !h.opt.NoQueue {
		h.await("the other callers wait", func() bool { return h.lane.Stats().Queued+int(h.inside.Load()) >= callers })
		// With every thread of the lane in the kernel a caller can still give up.
		g := h.enterWith(context.Background(), lane.Call{})
		g.cancel()
		h.waitFor(g)
		h.want(refused, g)
	}
	if _, err := w.Write(make([]byte, callers)); err != nil {
		h.Fatalf("%v", err)
	}
	h.awaitAll(&wg, "every call has read its byte")
	if got := h.peak.Load(); got != int64(h.slots) {
		h.Errorf("%d calls blocked at a time, in %d slots", got, h.slots)
	}
}

func readByte(h *hall, fd int) {
	var b [1]byte
	for {
		switch n, err := syscall.Read(fd, b[:]); {
		case err == syscall.EINTR:
		case err != nil || n != 1:
			h.Errorf("read: %d, %v", n, err)
			return
		default:
			return
		}
	}
}
