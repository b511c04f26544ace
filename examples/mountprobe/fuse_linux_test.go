package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// serverVar makes the test program a file system server for the directory that it names.
const serverVar = "IOLANE_TEST_FUSE"

// cannot is how a server ends that may not mount here.
const cannot = 3

// The part of the kernel's protocol that statfs needs: include/uapi/linux/fuse.h.
const (
	opStatfs = 17
	opInit   = 26

	headerOut    = 16
	major, minor = 7, 31
	maxWrite     = 4096
)

// child makes this process the server, if it is to be one.
func child() {
	if dir := os.Getenv(serverVar); dir != "" {
		serve(dir)
	}
}

// serve is the server: a file system that knows statfs, and answers it unless it was told
// to hang. Each line on its standard input is an order: "hang", or "go".
func serve(dir string) {
	fail := func(err error) {
		fmt.Println(err)
		os.Exit(cannot)
	}
	fuse, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		fail(err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fuse, os.Getuid(), os.Getgid())
	if err := syscall.Mount("iolane-test", dir, "fuse", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		fail(err)
	}
	fmt.Println("mounted")
	requests := make(chan []byte)
	go func() {
		for {
			buf := make([]byte, 1<<20)
			n, err := syscall.Read(fuse, buf)
			switch {
			case err == nil:
				requests <- buf[:n]
			case !errors.Is(err, syscall.EINTR):
				os.Exit(0) // unmounted
			}
		}
	}()
	orders := make(chan string)
	go func() {
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			orders <- s.Text()
		}
		os.Exit(0) // the test has gone
	}()
	var held [][]byte
	hangs := false
	for {
		select {
		case order := <-orders:
			if hangs = order == "hang"; !hangs {
				for _, r := range held {
					answer(fuse, r)
				}
				held = nil
			}
			fmt.Println(order)
		case r := <-requests:
			if hangs {
				held = append(held, r)
			} else {
				answer(fuse, r)
			}
		}
	}
}

// answer answers one request of the kernel's.
func answer(fuse int, request []byte) {
	le := binary.NativeEndian
	var body []byte
	out := make([]byte, headerOut)
	switch le.Uint32(request[4:]) {
	case opInit:
		body = make([]byte, 64)
		le.PutUint32(body[0:], major)
		le.PutUint32(body[4:], minor)
		le.PutUint32(body[20:], maxWrite)
	case opStatfs:
		body = make([]byte, 80)
	default:
		le.PutUint32(out[4:], ^uint32(syscall.ENOSYS)+1) // negative
	}
	le.PutUint32(out[0:], uint32(headerOut+len(body)))
	le.PutUint64(out[8:], le.Uint64(request[8:]))
	_, _ = syscall.Write(fuse, slices.Concat(out, body)) // whoever asked may have gone
}

// server is a server in a process of its own.
type server struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// startServer mounts a file system, or skips the test and says why.
func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), cmd: exec.Command(os.Args[0])}
	s.cmd.Env = append(os.Environ(), serverVar+"="+s.dir)
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.lines = bufio.NewScanner(out)
	if s.lines.Scan(); s.lines.Text() != "mounted" {
		t.Skip("no file system in user space here: ", s.lines.Text(), s.cmd.Wait())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(s.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return s
}

// order tells the server what to do, and waits until it does.
func (s *server) order(what string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, what); err != nil || !s.lines.Scan() || s.lines.Text() != what {
		s.t.Fatal(err, s.lines.Text())
	}
}

// die ends the server: whoever waits for it comes back.
func (s *server) die() {
	s.t.Helper()
	if err := s.in.Close(); err != nil {
		s.t.Error(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Error(err)
	}
}

// A true file system whose server, another process, stops to answer: the probe says so in
// time, goes on saying so, does not wait for it with the others, and notices by itself
// when it answers again, and when it dies.
func TestADeadFUSEMount(t *testing.T) {
	s := startServer(t)
	alive := t.TempDir()
	p, err := newProber(50*time.Millisecond, 2, statfs)
	if err != nil {
		t.Fatal(err)
	}
	state := func(want string) {
		t.Helper()
		for range 1000 { // what was left may need a moment to end
			if p.round(t.Context(), []string{s.dir, alive})[0].state == want {
				return
			}
		}
		t.Errorf("never %s", want)
	}
	state(stateOK)
	for range 2 {
		s.order("hang")
		var first time.Duration
		for range 5 {
			got := p.round(t.Context(), []string{s.dir, alive})
			if got[0].state != stateHung || got[0].took <= first || got[1].state != stateOK {
				t.Errorf("%v", got)
			}
			first = got[0].took
			if n := len(p.calls.Stats().Lane.Left); n != 1 {
				t.Errorf("%d calls are left running, want 1", n)
			}
		}
		s.order("go")
		state(stateOK)
	}
	s.order("hang")
	if got := p.round(t.Context(), []string{s.dir}); got[0].state != stateHung {
		t.Errorf("%v", got)
	}
	s.die()
	if err := p.calls.Close(); err != nil { // the call has come back
		t.Error(err)
	}
	if err := statfs(s.dir); !errors.Is(err, syscall.ENOTCONN) {
		t.Error(err)
	}
}
