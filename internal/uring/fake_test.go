package uring

import (
	"math/rand/v2"
	"syscall"
	"time"
	"unsafe"
)

// fake is a kernel that completes operations when it is told to, and fails when it is
// told to. It keeps to the rules of the true one: entries below the tail only, one
// completion each, and no completion where there is no place.
type fake struct {
	ring     *Ring
	p        params
	rings    []byte
	sqes     []byte
	refuse   uint32 // flags that are EINVAL
	features uint32
	without  map[Op]bool
	maxSlots int // more is ENOMEM; 0: no limit

	fail func(call string) syscall.Errno // nil, or what this call says before it does anything
	most int                             // entries that one enter takes; 0: no limit

	fds, maps int // open
	nextFD    int
	flight    []sqe // taken, not completed
	kept      []cqe // no place for them
	hold      func(e sqe) bool
	// result of an operation that completes by itself; nil: 0
	result  func(e sqe) int32
	calls   map[string]int
	waits   int // enters that would have slept for ever
	clock   time.Duration
	rand    *rand.Rand
	kicked  bool
	atSleep func()
}

func newFake() *fake {
	return &fake{nextFD: 100, features: featNeeded, calls: map[string]int{}, rand: rand.New(rand.NewPCG(1, 2))}
}

func (f *fake) asked(call string) syscall.Errno {
	f.calls[call]++
	if f.fail == nil {
		return 0
	}
	return f.fail(call)
}

func (f *fake) open() int {
	f.fds++
	f.nextFD++
	return f.nextFD
}

func (f *fake) setup(entries uint32, p *params) (int, syscall.Errno) {
	if e := f.asked("setup"); e != 0 {
		return -1, e
	}
	if p.flags&f.refuse != 0 {
		return -1, errINVAL
	}
	p.sqEntries = entries
	if p.flags&setupCQSize == 0 {
		p.cqEntries = 2 * entries
	}
	if f.maxSlots > 0 && int(p.cqEntries) > f.maxSlots {
		return -1, errNOMEM
	}
	p.features = f.features
	p.sqOff = sqOffsets{head: 0, tail: 4, flags: 8, array: 64}
	p.cqOff = cqOffsets{head: 16, tail: 20, cqes: 64 + 4*entries}
	f.p = *p
	return f.open(), 0
}

func (f *fake) mmap(_ int, offset int64, size int) ([]byte, syscall.Errno) {
	name := "mmap rings"
	if offset != offSQRing {
		name = "mmap entries"
	}
	if e := f.asked(name); e != 0 {
		return nil, e
	}
	f.maps++
	m := make([]byte, size)
	if offset == offSQRing {
		f.rings = m
	} else {
		f.sqes = m
	}
	return m, 0
}

func (f *fake) munmap([]byte) { f.maps-- }
func (f *fake) close(int)     { f.fds-- }

func (f *fake) word(at uint32) *uint32 { return (*uint32)(unsafe.Pointer(&f.rings[at])) }

func (f *fake) register(_ int, code uint32, arg unsafe.Pointer, _ uint32) (int, syscall.Errno) {
	if e := f.asked(map[uint32]string{registerProbe: "register probe", registerBuffers: "register buffers", registerRingFDs: "register ring"}[code]); e != 0 {
		return -1, e
	}
	switch code {
	case registerProbe:
		p := (*probe)(arg)
		p.opsLen = 63
		for i := range p.ops[:63] {
			p.ops[i].op = uint8(i)
			if !f.without[Op(i)] {
				p.ops[i].flags = probeSupported
			}
		}
	case registerRingFDs:
		return 1, 0
	}
	return 0, 0
}

func (f *fake) eventfd() (int, syscall.Errno) {
	if e := f.asked("eventfd"); e != 0 {
		return -1, e
	}
	return f.open(), 0
}

func (f *fake) wake(int) {
	f.kicked = true
	f.completeIf(func(e sqe) bool { return f.isWake(e) }, 8)
}

func (f *fake) isWake(e sqe) bool { return e.opcode == OpRead && e.len == 8 && e.off == ^uint64(0) }

func (f *fake) memlock() uint64       { return 1 << 20 }
func (f *fake) now() time.Duration    { return f.clock }
func (f *fake) sleep(d time.Duration) { f.clock += d; f.calls["sleep"]++ }

func (f *fake) enter(_ int, submit, wait, flags uint32, arg *extArg, _ bool) (int, syscall.Errno) {
	e := f.asked("enter")
	head, tail := f.word(0), *f.word(4)
	taken := 0
	for e == 0 && *head != tail && taken < int(submit) && (f.most == 0 || taken < f.most) {
		f.take(*f.entry(*head))
		*head++
		taken++
	}
	if e != 0 && e != errTIME {
		return -1, e
	}
	if flags&enterGetEvents != 0 {
		f.flushKept()
		if taken < int(submit) {
			return taken, 0
		}
		for f.ready() < wait && e == 0 {
			if f.atSleep != nil {
				f.atSleep()
				if f.ready() >= wait {
					break
				}
			}
			if arg != nil && arg.ts != 0 {
				f.clock += time.Duration(f.ring.timeout.sec)*time.Second + time.Duration(f.ring.timeout.nsec)
				e = errTIME
				break
			}
			if !f.completeOne() {
				f.waits++
				panic("fake: waits for ever")
			}
		}
	}
	if taken > 0 {
		return taken, 0
	}
	if e != 0 {
		return -1, e
	}
	return 0, 0
}

func (f *fake) entry(i uint32) *sqe {
	return (*sqe)(unsafe.Pointer(&f.sqes[(i&(f.p.sqEntries-1))*64]))
}

func (f *fake) ready() uint32 { return *f.word(20) - *f.word(16) }

func (f *fake) take(e sqe) {
	if e.opcode == OpAsyncCancel {
		f.cancel(e)
		return
	}
	if f.isWake(e) && f.kicked {
		f.kicked = false
		f.post(e.userData, 8)
		return
	}
	if f.isWake(e) || f.hold != nil && f.hold(e) {
		f.flight = append(f.flight, e)
		return
	}
	f.complete(e)
}

func (f *fake) complete(e sqe) {
	res := int32(0)
	if f.result != nil {
		res = f.result(e)
	}
	f.post(e.userData, res)
}

func (f *fake) cancel(e sqe) {
	if e.opFlags&cancelAny != 0 {
		if f.without[OpAsyncCancel] {
			f.post(e.userData, -int32(errINVAL))
			return
		}
		n := f.completeIf(func(sqe) bool { return true }, -int32(errCANCELED))
		f.post(e.userData, int32(n))
		return
	}
	switch f.completeIf(func(o sqe) bool { return o.userData == e.addr }, -int32(errCANCELED)) {
	case 0:
		f.post(e.userData, -2)
	default:
		f.post(e.userData, 0)
	}
}

func (f *fake) completeIf(which func(sqe) bool, res int32) (n int) {
	var rest []sqe
	for _, e := range f.flight {
		if which(e) {
			f.post(e.userData, res)
			n++
			continue
		}
		rest = append(rest, e)
	}
	f.flight = rest
	return n
}

// completeOne completes any operation that is in flight, but not the wake-up.
func (f *fake) completeOne() bool {
	var can []int
	for i, e := range f.flight {
		if !f.isWake(e) {
			can = append(can, i)
		}
	}
	if len(can) == 0 {
		return false
	}
	i := can[f.rand.IntN(len(can))]
	e := f.flight[i]
	f.flight = append(f.flight[:i], f.flight[i+1:]...)
	f.complete(e)
	return true
}

func (f *fake) post(userData uint64, res int32) {
	c := cqe{userData: userData, res: res}
	if f.ready() == f.p.cqEntries || len(f.kept) > 0 {
		f.kept = append(f.kept, c)
		*f.word(8) |= sqCQOverflow
		return
	}
	f.put(c)
}

func (f *fake) put(c cqe) {
	tail := f.word(20)
	at := f.p.cqOff.cqes + (*tail&(f.p.cqEntries-1))*16
	*(*cqe)(unsafe.Pointer(&f.rings[at])) = c
	*tail++
}

func (f *fake) flushKept() {
	for len(f.kept) > 0 && f.ready() < f.p.cqEntries {
		f.put(f.kept[0])
		f.kept = f.kept[1:]
	}
	if len(f.kept) == 0 {
		*f.word(8) &^= sqCQOverflow
	}
}
