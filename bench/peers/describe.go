package main

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/result"
	"github.com/iolane/iolane/bench/peers/internal/shape"
)

// describe says what a run is and on what machine.
func describe(o options) result.Run {
	return result.Run{
		Started: time.Now().Truncate(time.Second),
		Command: append([]string{"go", "run", "."}, os.Args[1:]...),
		Commit:  commit(),
		Go:      runtime.Version(),
		CPU:     cpuName(),
		CPUs:    runtime.NumCPU(),
		Procs:   runtime.GOMAXPROCS(0),
		Kernel:  kernel(),
		Load:    []string{load(), ""},
		Steps:   o.env.Steps,
		Modules: modules(),
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

// modules are the versions of what is measured.
func modules() map[string]string {
	versions := make(map[string]string)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versions
	}
	for _, m := range info.Deps {
		if slices.ContainsFunc(measured(), func(path string) bool { return path == m.Path }) {
			versions[m.Path] = m.Version
		}
	}
	return versions
}

func measured() []string {
	return []string{
		"github.com/Jeffail/tunny", "github.com/alitto/pond/v2", "github.com/failsafe-go/failsafe-go",
		"github.com/gammazero/workerpool", "github.com/jackc/puddle/v2", "github.com/panjf2000/ants/v2",
		"github.com/sourcegraph/conc", "golang.org/x/sync",
	}
}

func kernel() string { return runtime.GOOS + " " + firstLine("/proc/sys/kernel/osrelease") }

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

// load is the mean number of threads that ran or wanted to during the last minute.
func load() string {
	first, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	return first
}

func firstLine(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func describeShape(s shape.Shape) result.Shape {
	return result.Shape{
		Name: s.Name, Group: s.Group, About: s.About,
		Ideal: float64(s.Ideal(runtime.GOMAXPROCS(0))),
	}
}

// describePeers adds the peers that the file does not know yet.
func describePeers(f *result.File, peers []peer.Maker) {
	for _, mk := range peers {
		f.Peers = slices.DeleteFunc(f.Peers, func(p result.Peer) bool { return p.Name == mk.Name })
		f.Peers = append(f.Peers, result.Peer{
			Name: mk.Name, About: mk.About, Kind: string(mk.Kind), Bounded: mk.Bounded, Ours: mk.Ours,
		})
	}
}

// order puts everything into the order of the code, whenever it was measured.
func order(f *result.File) {
	var shapes, peers []string
	for _, s := range shape.All() {
		shapes = append(shapes, s.Name)
	}
	for _, mk := range peer.All() {
		peers = append(peers, mk.Name)
	}
	f.Order(shapes, peers)
}
