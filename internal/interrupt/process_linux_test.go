//go:build linux && (amd64 || 386 || arm64)

package interrupt

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
)

// number is a signal for the tests of this file, so that what they do to it does not
// meet those that run with Default.
const number = 50

func action(t *testing.T) sigaction {
	t.Helper()
	a, err := getAction(number)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustTake(t *testing.T) *Signal {
	t.Helper()
	s, err := Take(number)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheLastReleaseRestoresTheSignal(t *testing.T) {
	before := action(t)
	if before.ours() || before.flags&saRestart == 0 {
		t.Fatalf("at first: %+v", before)
	}
	one, two := mustTake(t), mustTake(t)
	if a := action(t); !a.ours() {
		t.Errorf("taken: %+v", a)
	}
	one.Release()
	one.Release() // counts once
	if a := action(t); !a.ours() {
		t.Errorf("one share left: %+v", a)
	}
	two.Release()
	if a := action(t); a != before {
		t.Errorf("released: %+v, before %+v", a, before)
	}
}

func TestTakeRefuses(t *testing.T) {
	for _, n := range []int{-1, int(syscall.SIGURG), 34, 65} {
		if _, err := Take(n); !errors.Is(err, ErrSignal) {
			t.Errorf("%d: %v", n, err)
		}
	}
	before := action(t)
	foreign := before
	foreign.handler += 1 << 16
	if _, err := setAction(number, foreign); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(number); !errors.Is(err, ErrSignal) {
		t.Errorf("a handler of C code: %v", err)
	}
	if _, err := setAction(number, before); err != nil {
		t.Fatal(err)
	}
	s, err := Take(0)
	if err != nil || s.Number() != Default {
		t.Fatalf("%v, %v", s, err)
	}
	s.Release()
}

// os/signal sets the handler anew, with SA_RESTART, when a program has ignored the
// signal and then asks for it.
func TestSendPutsTheHandlerBack(t *testing.T) {
	s := mustTake(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	send := func(when string) {
		t.Helper()
		if !s.sys.send(gettid(), true) {
			t.Errorf("%s: not sent", when)
		}
		if a := action(t); !a.ours() {
			t.Errorf("%s: %+v", when, a)
		}
		s.sys.drain()
	}
	send("at first")
	signal.Ignore(syscall.Signal(number))
	if a := action(t); a.handler != ignored {
		t.Fatalf("ignored: %+v", a)
	}
	send("ignored")
	signal.Ignore(syscall.Signal(number))
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.Signal(number))
	again := action(t)
	if again.ours() || again.flags&saRestart == 0 {
		t.Fatalf("notified: %+v", again)
	}
	send("notified")
	signal.Stop(c)
	send("stopped")
	signal.Reset(syscall.Signal(number))
	send("reset")
	if len(c) != 0 {
		t.Error("the program was notified of a signal of ours")
	}
	s.Release()
	if a := action(t); a != again {
		t.Errorf("released: %+v; what others last made of it: %+v", a, again)
	}
}

func TestReleaseLeavesWhatTheProgramHasMade(t *testing.T) {
	before := action(t)
	s := mustTake(t)
	signal.Ignore(syscall.Signal(number))
	s.Release()
	if a := action(t); a.handler != ignored {
		t.Errorf("%+v", a)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.Signal(number))
	signal.Stop(c)
	if a := action(t); a != before {
		t.Errorf("%+v, before %+v", a, before)
	}
}

// The default action of a real-time signal ends the process.
func TestTheHandlerStaysUntilAllSignalsHaveArrived(t *testing.T) {
	before := action(t)
	s := mustTake(t)
	c := NewCall(s)
	enter(t, c)
	c.Ask()
	s.Release()
	if a := action(t); !a.ours() {
		t.Errorf("a signal is on its way: %+v", a)
	}
	if c.Ask() {
		t.Error("acknowledged")
	}
	if c.sent != 1 {
		t.Errorf("%d signals, though the share was given back", c.sent)
	}
	c.Leave()
	if a := action(t); a != before {
		t.Errorf("all have arrived: %+v, before %+v", a, before)
	}
}

func TestThreadsThatBlockTheSignalLetItIn(t *testing.T) {
	s := mustTake(t)
	defer s.Release()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := setMask(sigBlock, number)
	defer func() {
		if !before {
			setMask(sigUnblock, number)
		}
	}()
	c := NewCall(s)
	enter(t, c)
	if setMask(sigUnblock, number) {
		t.Error("blocked in the section")
	}
	c.Leave()
	if !setMask(sigBlock, number) {
		t.Error("not blocked after it")
	}
}

func TestPendingIsSeen(t *testing.T) {
	if comm, err := os.ReadFile("/proc/self/comm"); err != nil || bytes.HasPrefix(comm, []byte("qemu-")) {
		t.Skipf("/proc is that of an emulator: %s, %v", comm, err)
	}
	s := mustTake(t)
	defer s.Release()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	look := func(want bool) {
		t.Helper()
		if got, err := s.sys.pending(gettid()); err != nil || got != want {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	look(false)
	setMask(sigBlock, number)
	s.sys.send(gettid(), true)
	look(true)
	setMask(sigUnblock, number)
	s.sys.drain()
	look(false)
	if _, err := s.sys.pending(1 << 30); err == nil {
		t.Error("a thread that does not exist has a status")
	}
}

func TestTheStatusOfAThread(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tx\nSigPnd:\t0002000000000000\nShdPnd:\t0000000000000000\n": true,
		"Name:\tx\nSigPnd:\t0000000000000000\nShdPnd:\t0002000000000000\n": false,
	} {
		if got, err := maskHas([]byte(status), "SigPnd", number); err != nil || got != want {
			t.Errorf("%q: %v, %v", status, got, err)
		}
	}
	for _, status := range []string{"", "\nSigPnd:", "\nSigPnd:\tx\n", "Name:\tSigPnd\n"} {
		if _, err := maskHas([]byte(status), "SigPnd", number); !errors.Is(err, errStatus) {
			t.Errorf("%q: %v", status, err)
		}
	}
}

// A thread of another process, or of none, is not signalled.
func TestOnlyThreadsOfThisProcess(t *testing.T) {
	if err := tgkill(1, 0); !errors.Is(err, syscall.ESRCH) && syscall.Getpid() != 1 {
		t.Errorf("thread 1: %v", err)
	}
	if err := tgkill(gettid(), 0); err != nil {
		t.Errorf("this one: %v", err)
	}
}
