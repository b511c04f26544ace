package main

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/iolane/iolane/bench/fileio/internal/fio"
	"github.com/iolane/iolane/bench/fileio/internal/result"
	"github.com/iolane/iolane/bench/fileio/internal/system"
)

// describe says what is measured where.
func (b *bench) describe() result.Run {
	version, err := fio.Version()
	if err != nil {
		version = ""
	}
	load, _, _ := strings.Cut(system.FirstLine("/proc/loadavg"), " ")
	return result.Run{
		Started: time.Now().Truncate(time.Second),
		Command: append([]string{"go", "run", "."}, os.Args[1:]...),
		Place:   b.place.about,
		Machine: result.Machine{
			CPU: cpuName(), CPUs: runtime.NumCPU(), Procs: runtime.GOMAXPROCS(0),
			Kernel: runtime.GOOS + " " + system.FirstLine("/proc/sys/kernel/osrelease"), Go: runtime.Version(),
			Commit: commit(), Fio: version, Load: load,
			HugePages: chosen(system.FirstLine("/sys/kernel/mm/transparent_hugepage/enabled")),
		},
	}
}

// commit is what is checked out, if git says so.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, "\t :\n")
		}
	}
	return runtime.GOARCH
}

// chosen is the word in brackets.
func chosen(line string) string {
	_, after, _ := strings.Cut(line, "[")
	word, _, _ := strings.Cut(after, "]")
	return word
}

func setProcs(n int) {
	if n > 0 {
		runtime.GOMAXPROCS(n)
	}
}

// watch looks, from outside, how many threads a process has, until it is asked for the
// most that it has seen.
func watch(pid int) (most func() int64) {
	stop, seen := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		highest := int64(0)
		for {
			select {
			case <-tick.C:
				highest = max(highest, system.Status(strconv.Itoa(pid), "Threads"))
			case <-stop:
				seen <- highest
				return
			}
		}
	}()
	return func() int64 { close(stop); return <-seen }
}
