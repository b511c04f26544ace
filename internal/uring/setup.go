package uring

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// New sets a ring up. The error is an *Error that names the step; whatever it is, nothing
// of the ring is left. With Config.Thread the caller is locked to his thread.
func New(c Config) (*Ring, error) {
	k, err := system()
	if err != nil {
		return nil, err
	}
	return newRing(k, c)
}

func newRing(k kernel, c Config) (*Ring, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &Ring{kernel: k, fd: -1}
	r.wakeup.fd = -1
	// From here on, so that not even a forgotten ring is ever collected.
	hold(r)
	if err := r.setup(c); err != nil {
		r.undo()
		r.state = stateClosed
		letGo(r)
		return nil, err
	}
	return r, nil
}

func (r *Ring) setup(c Config) error {
	p, err := r.create(&c)
	if err != nil {
		return err
	}
	if err := r.mapQueues(p); err != nil {
		return err
	}
	if err := r.probe(); err != nil {
		return err
	}
	i := &r.info
	i.Entries, i.CQEntries = int(p.sqEntries), int(p.cqEntries)
	i.Flags, i.Features = p.flags, p.features
	i.Memlock = r.kernel.memlock()
	i.Slots = min(c.Slots, i.CQEntries-own-1)
	i.Cancels = i.CQEntries - own - i.Slots
	r.deferred = p.flags&setupDeferTaskrun != 0
	r.room = i.Entries - 1 // one place is that of the wake-up
	r.makeSlots(i.Slots)
	if err := r.makeWake(); err != nil {
		return err
	}
	if r.deferred {
		r.registerThread()
	}
	return nil
}

// wanted returns flags that belong together, the newest first.
func wanted(c Config) []uint32 {
	groups := []uint32{setupNoSQArray}
	if c.Thread {
		groups = append(groups, setupSingleIssuer|setupDeferTaskrun|setupTaskrunFlag)
	}
	return append(groups, setupSubmitAll, setupCQSize)
}

// create gets the descriptor, with as many of the wanted flags as the kernel grants. It
// says EINVAL without saying to what. So flags are left out, the newest first, until it
// agrees; then each of those that were left out on the way is tried once more, since
// only the last one is known to be at fault. A ring that needs too much memory is tried
// with half as many slots, down to a handful: c tells how many. (Since about 6.14 the
// memory of a ring counts against the limit on locked memory.) Either answer may come after the
// other: kernels differ in what they look at first.
func (r *Ring) create(c *Config) (*params, error) {
	groups := wanted(*c)
	granted, said := make([]bool, len(groups)), make([]syscall.Errno, len(groups))
	for i := range granted {
		granted[i] = true
	}
	try := func() (*params, syscall.Errno) {
		p := &params{}
		for i, g := range groups {
			if granted[i] {
				p.flags |= g
			}
		}
		entries := powerOfTwo(max(c.Entries, 2))
		if p.flags&setupCQSize != 0 {
			// As many cancellations as operations, if there are few of these.
			cq := c.Slots + own + min(c.Slots, minCancels)
			p.cqEntries = uint32(max(powerOfTwo(cq), entries))
		}
		return p, r.create1(entries, p)
	}
	asked, without := c.Slots, 0 // groups left out: the first ones
	p, e := try()
	for e == errNOMEM && c.Slots > 8 || e == errINVAL && without < len(groups) {
		if e == errNOMEM {
			c.Slots /= 2
			c.Entries = min(c.Entries, c.Slots)
		} else {
			granted[without], said[without] = false, e
			without++
		}
		p, e = try()
	}
	if e != 0 {
		return nil, failed("io_uring_setup", e)
	}
	if c.Slots < asked {
		r.info.Refused = append(r.info.Refused, Refusal{fmt.Sprintf("%d slots", asked), errNOMEM})
	}
	for i := range without - 1 {
		granted[i] = true
		before, fd := p, r.fd
		if p, e = try(); e != 0 {
			granted[i], said[i], p, r.fd = false, e, before, fd
			continue
		}
		r.kernel.close(fd)
	}
	for i, g := range groups {
		if !granted[i] {
			r.info.Refused = append(r.info.Refused, Refusal{namesOf(g), said[i]})
		}
	}
	r.enterFD = r.fd
	if p.features&featNeeded != featNeeded {
		return nil, &Error{Step: "features", Err: errors.ErrUnsupported}
	}
	return p, nil
}

// create1 asks once, but again after a signal.
func (r *Ring) create1(entries int, p *params) syscall.Errno {
	for range 100 {
		fd, e := r.kernel.setup(uint32(entries), p)
		if e == 0 {
			r.fd = fd
		}
		if e != errINTR {
			return e
		}
	}
	return errINTR
}

func (r *Ring) mapQueues(p *params) error {
	var e syscall.Errno
	sq := int(p.sqOff.array)
	if p.flags&setupNoSQArray == 0 {
		sq += int(p.sqEntries) * 4
	}
	cq := int(p.cqOff.cqes) + int(p.cqEntries)*int(unsafe.Sizeof(cqe{}))
	if r.ringMem, e = r.kernel.mmap(r.fd, offSQRing, max(sq, cq)); e != 0 {
		return failed("mmap rings", e)
	}
	if r.sqeMem, e = r.kernel.mmap(r.fd, offSQEs, int(p.sqEntries)*int(unsafe.Sizeof(sqe{}))); e != 0 {
		return failed("mmap entries", e)
	}
	r.sq.init(r.ringMem, r.sqeMem, p)
	r.cq.init(r.ringMem, p)
	return nil
}

// probe asks for the operations that the kernel knows.
func (r *Ring) probe() error {
	p := new(probe)
	if e := r.ask(registerProbe, unsafe.Pointer(p), uint32(len(p.ops))); e != 0 {
		return failed("register probe", e)
	}
	for _, o := range p.ops[:p.opsLen] {
		r.info.supported[o.op] = o.flags&probeSupported != 0
	}
	return nil
}

func (r *Ring) makeWake() error {
	if !r.info.Supports(OpRead) {
		return &Error{Step: "read", Err: errors.ErrUnsupported}
	}
	fd, e := r.kernel.eventfd()
	if e != 0 {
		return failed("eventfd", e)
	}
	r.wakeup.fd = fd
	r.wakeup.buf = new([8]byte)
	return nil
}

// undo gives back whatever there is of the ring. Nothing is in flight.
func (r *Ring) undo() {
	r.unregisterThread()
	if r.sqeMem != nil {
		r.kernel.munmap(r.sqeMem)
	}
	if r.ringMem != nil {
		r.kernel.munmap(r.ringMem)
	}
	if r.fd >= 0 {
		r.kernel.close(r.fd)
	}
	w := &r.wakeup
	w.mu.Lock()
	if w.fd >= 0 {
		r.kernel.close(w.fd)
	}
	w.fd = -1
	w.mu.Unlock()
	r.fd, r.enterFD = -1, -1
	r.ringMem, r.sqeMem, r.buffers = nil, nil, nil
	r.sq, r.cq = submission{}, completions{}
}
