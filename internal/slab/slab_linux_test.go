package slab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake is a kernel that gives usual memory whatever is asked for, fails where it is told
// to, and says of huge pages what it is told to.
type fake struct {
	linux
	hugeTLB  bool
	fails    map[string]error // by what note writes
	anonHuge string           // of the mapping that was given last
	noProc   bool

	notes []string
	live  int // bytes mapped
	b     []byte
}

func (f *fake) note(format string, args ...any) error {
	note := fmt.Sprintf(format, args...)
	f.notes = append(f.notes, note)
	return f.fails[note]
}

func (f *fake) mmap(size, prot, flags int) ([]byte, error) {
	if flags != 0 {
		if err := f.note("mmap huge %d", size); err != nil || !f.hugeTLB {
			return nil, syscall.ENOMEM
		}
	} else if err := f.note("mmap"); err != nil {
		return nil, err
	}
	f.live += size
	return f.linux.mmap(size, prot, 0)
}

func (f *fake) mprotect(b []byte, prot int) error {
	if err := f.note("mprotect %d", len(b)); err != nil {
		return err
	}
	f.b = b
	return f.linux.mprotect(b, prot)
}

func (f *fake) madvise(b []byte, advice int) error { return f.note("madvise %d %d", advice, len(b)) }

func (f *fake) munmap(b []byte) error {
	f.live -= len(b)
	return f.linux.munmap(b)
}

func (f *fake) smaps() (io.ReadCloser, error) {
	if f.noProc {
		return nil, os.ErrNotExist
	}
	at := address(f.b)
	text := fmt.Sprintf(`00400000-00452000 r-xp 00000000 08:02 173521      /a-b: c
AnonHugePages:      8192 kB
%08x-%08x rw-p 00000000 00:00 0 
Size:               4096 kB
Rss:                4096 kB
%sVmFlags: rd wr mr mw me ac sd
%08x-%08x rw-p 00000000 00:00 0 
AnonHugePages:      8192 kB
`, at, at+HugePage, f.anonHuge, at+HugePage, at+2*HugePage)
	return io.NopCloser(strings.NewReader(text)), nil
}

func TestMemoryFallsBackAndSaysSo(t *testing.T) {
	populateHuge := fmt.Sprintf("madvise %d %d", madvPopulateWrite, HugePage)
	for name, c := range map[string]struct {
		kernel  fake
		backing Backing
		huge    int
	}{
		"a reserve": {fake{hugeTLB: true}, HugeTLB, HugePage},
		"a reserve that the cgroup denies": {
			fake{hugeTLB: true, fails: map[string]error{populateHuge: syscall.EFAULT}, anonHuge: "AnonHugePages:      2048 kB\n"}, Transparent, HugePage,
		},
		"no reserve":                        {fake{anonHuge: "AnonHugePages:      2048 kB\n"}, Transparent, HugePage},
		"madvise succeeds, nothing is huge": {fake{anonHuge: "AnonHugePages:         0 kB\n"}, Plain, 0},
		"an old kernel":                     {fake{}, Plain, 0},
		"no proc":                           {fake{noProc: true}, Plain, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := &c.kernel
			m, err := mapped(k, 5000)
			require.NoError(t, err)
			if m.Backing != c.backing || m.Huge != c.huge {
				t.Errorf("backing %d, %d bytes huge", m.Backing, m.Huge)
			}
			m.Bytes[0], m.Bytes[4999] = 1, 1
			require.NoError(t, m.Free())
			if k.live != 0 {
				t.Error("left mapped:", k.live)
			}
		})
	}
}

func TestMemoryIsThereFromTheStart(t *testing.T) {
	populate := fmt.Sprintf("madvise %d 5000", madvPopulateWrite)
	k := &fake{}
	m, err := mapped(k, 5000)
	require.NoError(t, err)
	require.NoError(t, m.Free())
	if !slices.Contains(k.notes, populate) {
		t.Error(k.notes)
	}

	k = &fake{fails: map[string]error{populate: syscall.EINVAL}} // before Linux 5.14
	m, err = mapped(k, 5000)
	require.NoError(t, err)
	require.NoError(t, m.Free())
}

func TestMemoryThatCannotBeHadIsAnErrorAndLeavesNothing(t *testing.T) {
	for _, step := range []string{"mmap", fmt.Sprintf("mprotect %d", HugePage), fmt.Sprintf("madvise %d 5000", madvPopulateWrite)} {
		k := &fake{fails: map[string]error{step: syscall.ENOMEM}}
		_, err := mapped(k, 5000)
		if e, ok := errors.AsType[*os.SyscallError](err); !ok || !errors.Is(err, syscall.ENOMEM) || !strings.HasPrefix(step, e.Syscall) {
			t.Errorf("%s: %v", step, err)
		}
		if k.live != 0 {
			t.Errorf("%s: left mapped: %d", step, k.live)
		}
	}
}

// What madvise promises is no evidence: the pages themselves are.
func TestTheKernelsOwnFiguresAreReported(t *testing.T) {
	m, err := Map(3*HugePage, 0)
	require.NoError(t, err)
	defer m.Free() //nolint:errcheck // looked at elsewhere
	mode, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if (len(mode) == 0 || strings.Contains(string(mode), "[never]")) && m.Backing == Transparent {
		t.Errorf("%d bytes in huge pages, which are switched off: %s", m.Huge, mode)
	}
	t.Logf("backing %d, %d bytes huge; %s", m.Backing, m.Huge, mode)
}
