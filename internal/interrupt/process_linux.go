//go:build linux && (amd64 || 386 || arm64)

package interrupt

import (
	"fmt"
	"sync"
	"syscall"
)

// The real-time signals that are free for all: 32 to 34 belong to C libraries.
const (
	lowest  = 35
	highest = 64
)

// process is one share in a signal of this process.
type process struct {
	*disposition
	number   int
	released bool // guarded by disposition.mu
}

// disposition is what the process does on one signal.
//
// A signal is sent under mu, with the handler checked under the same lock; so it
// arrives at our handler, not at one that release has put back in its place.
type disposition struct {
	mu        sync.Mutex
	shares    int
	undrained int // sections that were sent a signal and have not drained yet
	installed bool
	others    sigaction // what it was before it was ours; if installed
}

//nolint:gochecknoglobals // a signal has one disposition per process, whoever takes it
var dispositions [highest + 1]disposition

func take(number int) (system, error) {
	if number < lowest || number > highest {
		return nil, fmt.Errorf("%w: %d is not from %d to %d", ErrSignal, number, lowest, highest)
	}
	d := &dispositions[number]
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.installed {
		if err := free(number); err != nil {
			return nil, err
		}
	}
	if err := d.armLocked(number); err != nil {
		return nil, err
	}
	d.shares++
	return &process{disposition: d, number: number}, nil
}

// free says whether nobody but the Go runtime has a handler for the signal. The
// runtime has the same for all signals; three are looked at, since C code may have
// taken one of them over.
func free(number int) error {
	now, err := getAction(number)
	if err != nil {
		return err
	}
	if now.handler == ignored || now.handler == byDefault {
		return nil
	}
	for _, s := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGURG, syscall.SIGPIPE} {
		if a, err := getAction(int(s)); err == nil && a.handler == now.handler {
			return nil
		}
	}
	return fmt.Errorf("%w: %d has a handler that is not of Go", ErrSignal, number)
}

// armLocked sees to it that the handler is ours, without SA_RESTART. What it finds
// in its place is kept for the last release.
func (d *disposition) armLocked(number int) error {
	now, err := getAction(number)
	if err != nil || now.ours() {
		return err
	}
	// What was there is what the kernel says on the exchange, not what it said
	// before: somebody may have come in between.
	was, err := setAction(number, ownAction())
	if err != nil {
		return err
	}
	if !was.ours() {
		d.others = was
	}
	d.installed = true
	return nil
}

// restoreLocked undoes armLocked once nobody needs the signal and none is on its
// way: to a process with the default action it would be deadly.
func (d *disposition) restoreLocked(number int) {
	if d.shares > 0 || d.undrained > 0 || !d.installed {
		return
	}
	d.installed = false
	now, err := getAction(number)
	if err != nil || !now.ours() {
		return // the program has made something else of it
	}
	if was, err := setAction(number, d.others); err == nil && !was.ours() {
		_, _ = setAction(number, was) // likewise, just now
	}
}

func (p *process) thread() (tid int, blocked bool) {
	return gettid(), setMask(sigUnblock, p.number)
}

func (p *process) block() { setMask(sigBlock, p.number) }

func (p *process) send(tid int, first bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released || p.armLocked(p.number) != nil || tgkill(tid, p.number) != nil {
		return false // EAGAIN: too many are pending for this user
	}
	if first {
		p.undrained++
	}
	return true
}

func (p *process) pending(tid int) (bool, error) { return pending(tid, p.number) }

// drain makes a system call, on the return of which the kernel delivers what is
// pending for the thread.
func (p *process) drain() {
	gettid()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.undrained--
	p.restoreLocked(p.number)
}

func (p *process) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = true
	p.shares--
	p.restoreLocked(p.number)
}
