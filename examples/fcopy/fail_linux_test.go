package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// limitEnv is how long files of a child may be, in bytes.
const limitEnv = "FCOPY_TEST_LIMIT"

// limit sets that.
func limit() {
	if n, err := strconv.ParseUint(os.Getenv(limitEnv), 10, 64); err == nil {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			panic(err)
		}
	}
}

// child is the command as another process.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	return cmd
}

// blocksOf is how much room a file takes on the disk, in bytes.
func blocksOf(t *testing.T, name string) int64 {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(name, &st))
	return st.Blocks * 512
}

// holed makes a file of size bytes with data in a few places.
func holed(t *testing.T, dir string, size int64, data []byte, at ...int64) string {
	t.Helper()
	name := filepath.Join(dir, "src")
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	must(t, f.Truncate(size))
	for _, off := range at {
		_, err := f.WriteAt(data, off)
		must(t, err)
	}
	must(t, f.Sync())
	if blocksOf(t, name) > size/2 {
		t.Skip("a file system without holes")
	}
	return name
}

func TestHolesStayHoles(t *testing.T) {
	onEachLane(t, func(t *testing.T, flags ...string) {
		for _, tc := range []struct {
			size int64
			at   []int64
		}{
			{1 << 20, nil},
			{1<<20 + 4095, []int64{300<<10 + 17, 700<<10 - 1}},
			{1<<20 + 513, []int64{4096, 200 << 10, 600<<10 + 4000, 1<<20 + 513 - 5000}},
		} {
			dir := t.TempDir()
			src, dst := holed(t, dir, tc.size, random(5000), tc.at...), filepath.Join(dir, "dst")
			for _, sparse := range []string{"auto", "always"} {
				wantOK(t, append(flags, "-sparse", sparse, "-verify", "-block", "16K", src, dst)...)
				same(t, src, dst)
				most := blocksOf(t, src) + 16<<10
				if sparse == "always" { // blocks are larger than those of the file system
					most += int64(len(tc.at)) * 32 << 10
				}
				if got := blocksOf(t, dst); got > most {
					t.Errorf("%s: %d bytes of %d are on the disk, %d of the source", sparse, got, tc.size, blocksOf(t, src))
				}
			}
			wantOK(t, append(flags, "-sparse", "never", src, dst)...)
			same(t, src, dst)
			if got := blocksOf(t, dst); got < tc.size {
				t.Errorf("never: %d bytes of %d are on the disk", got, tc.size)
			}
		}
	})
}

func TestBlocksOfZerosBecomeHolesWhenAskedFor(t *testing.T) {
	dir := t.TempDir()
	src, dst := write(t, make([]byte, 1<<20), dir, "src"), filepath.Join(dir, "dst")
	wantOK(t, "-sparse", "always", src, dst)
	same(t, src, dst)
	if got := blocksOf(t, dst); got > 64<<10 {
		t.Errorf("%d bytes are on the disk", got)
	}
	wantOK(t, src, dst)
	if got := blocksOf(t, dst); got < 1<<20 {
		t.Errorf("not asked for, and %d bytes are on the disk", got)
	}
}

// endless makes a file that takes very long to verify and no room.
func endless(t *testing.T, dir string) string { return holed(t, dir, 1<<40, nil) }

func TestACancelLeavesNothing(t *testing.T) {
	onEachLane(t, func(t *testing.T, flags ...string) {
		dir := t.TempDir()
		dst := write(t, []byte("old"), dir, "dst")
		if !cancelled(t, append(flags, "-verify", endless(t, dir), dst)...) {
			t.Error("it came to an end")
		}
		wantNames(t, dir, "dst", "src")
		for range 20 { // in the copying, which may be over before it is cancelled
			src := write(t, random(2<<20), dir, "src")
			if cancelled(t, append(flags, "-block", "4K", "-depth", "2", src, dst)...) {
				wantNames(t, dir, "dst", "src")
				if now, err := os.ReadFile(dst); err != nil || string(now) != "old" {
					t.Errorf("%v, %d bytes", err, len(now))
				}
				return
			}
			write(t, []byte("old"), dir, "dst")
		}
		t.Error("never cancelled in the midst of it")
	})
}

// cancelled copies, and cancels that as soon as something was done. It reports false if
// the copy was faster.
func cancelled(t *testing.T, args ...string) bool {
	t.Helper()
	o, err := parseFlags(args)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said strings.Builder
	r := newReport(&said, false)
	var work sync.WaitGroup
	ended := make(chan struct{})
	work.Go(func() {
		defer close(ended)
		err = o.copy(ctx, r)
	})
	for r.bar.done.Load() == 0 {
		select {
		case <-ended:
			t.Fatalf("%v, and it says: %s", err, said.String())
		default:
			runtime.Gosched()
		}
	}
	cancel()
	work.Wait()
	must(t, err)
	if strings.Contains(strings.ReplaceAll(said.String(), "fcopy: note: ", ""), "fcopy: ") {
		t.Errorf("it says: %s", said.String())
	}
	return r.failed
}

func TestAnInterruptLeavesNothing(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := t.TempDir()
		cmd := child(t, "-verify", endless(t, dir), filepath.Join(dir, "dst"))
		var errs strings.Builder
		cmd.Stderr = &errs
		must(t, cmd.Start())
		for {
			if found, _ := filepath.Glob(filepath.Join(dir, ".fcopy-*")); len(found) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		must(t, cmd.Process.Signal(sig))
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != exitInterrupted || errs.String() != "fcopy: interrupted\n" {
			t.Errorf("%v: status %d, standard error:\n%s", sig, got, errs.String())
		}
		wantNames(t, dir, "src")
	}
}

func TestAFileThatMayNotBecomeSoLongLeavesNothing(t *testing.T) {
	for _, sparse := range []string{"auto", "always"} {
		dir := t.TempDir()
		src, dst := write(t, random(100000), dir, "src"), filepath.Join(dir, "dst")
		cmd := child(t, "-sparse", sparse, src, dst)
		cmd.Env = append(cmd.Env, limitEnv+"=50000")
		said, _ := cmd.CombinedOutput()
		want := "fcopy: " + dst + ": truncate: file too large\n"
		if got := cmd.ProcessState.ExitCode(); got != exitFailed || string(said) != want {
			t.Errorf("status %d, standard error %q, want %q", got, said, want)
		}
		wantNames(t, dir, "src")
	}
}

func TestAFullDiskIsToldAndNothingIsLeft(t *testing.T) {
	small := t.TempDir()
	if err := unix.Mount("fcopy-test", small, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no small file system:", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(small, 0)) })
	onEachLane(t, func(t *testing.T, flags ...string) {
		src, dst := write(t, random(2<<20), t.TempDir(), "src"), filepath.Join(small, "dst")
		for sparse, op := range map[string]string{"auto": "allocate", "always": "write"} {
			want := "fcopy: " + dst + ": " + op + ": no space left on device\n"
			got := command(t.Context(), append(flags, "-block", "64K", "-sparse", sparse, src, dst)...)
			if got.status != exitFailed || got.errors != want {
				t.Errorf("%+v, want %q", got, want)
			}
			wantNames(t, small)
		}
	})
}

func TestWithoutDirectIOAFileIsCopiedAllTheSame(t *testing.T) {
	const src = "/sys/kernel/btf/vmlinux"
	if f, err := os.OpenFile(src, os.O_RDONLY|syscall.O_DIRECT, 0); err == nil || !os.IsNotExist(err) && !strings.Contains(err.Error(), "invalid") {
		f.Close()
		t.Skip("no file to be found that refuses direct I/O:", err)
	} else if os.IsNotExist(err) {
		t.Skip(err)
	}
	dst := filepath.Join(t.TempDir(), "dst")
	got := command(t.Context(), "-direct", "-verify", src, dst)
	if want := "fcopy: note: " + src + ": no direct I/O: the file system has none\n"; got.status != exitOK || !strings.HasPrefix(got.errors, want) {
		t.Errorf("%+v, want %q", got, want)
	}
	same(t, src, dst)
}

func TestAFileThatIsLongerThanTheSystemSaysIsRefused(t *testing.T) {
	dir := t.TempDir()
	wantError(t, "is not as long as the system says", dir, nil, "/proc/version", filepath.Join(dir, "dst"))
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	fifo, src := filepath.Join(dir, "fifo"), write(t, nil, dir, "src")
	must(t, syscall.Mkfifo(fifo, 0o644))
	wantError(t, fifo+" is a FIFO, not a file", dir, []string{"fifo", "src"}, fifo, filepath.Join(dir, "dst"))
	wantError(t, fifo+" is a FIFO, not a file", dir, []string{"fifo", "src"}, src, fifo)
	wantError(t, "/dev/null is a device, not a file", dir, []string{"fifo", "src"}, src, "/dev/null")
}
