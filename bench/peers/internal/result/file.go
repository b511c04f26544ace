package result

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// A File is everything that was measured, with what is needed to read it.
type File struct {
	Runs     []Run     `json:"runs"`
	Peers    []Peer    `json:"peers"`  // in the order of tables
	Shapes   []Shape   `json:"shapes"` // in the order of tables
	Samples  []Sample  `json:"samples"`
	Failures []Failure `json:"failures,omitempty"`
}

// A Run is one start of the command, on one machine.
type Run struct {
	Started time.Time         `json:"started"`
	Command []string          `json:"command"`
	Commit  string            `json:"commit,omitempty"`
	Go      string            `json:"go"`
	CPU     string            `json:"cpu"`
	CPUs    int               `json:"cpus"`
	Procs   int               `json:"gomaxprocs"`
	Kernel  string            `json:"kernel"`
	Load    []string          `json:"load"`  // of the machine, at the start and at the end
	Steps   float64           `json:"steps"` // of the work loop, for a microsecond
	Modules map[string]string `json:"modules"`
}

// A Shape is a workload that was measured.
type Shape struct {
	Name  string  `json:"name"`
	Group string  `json:"group"`
	About string  `json:"about"`
	Ideal float64 `json:"ideal,omitempty"` // the time of a call if the work alone took any; see Efficiency
	Run   int     `json:"run"`             // index in Runs
}

// A Peer is one way to run calls.
type Peer struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Kind    string `json:"kind"`
	Bounded bool   `json:"bounded"`
	Ours    bool   `json:"ours"`
}

// A Failure is a measurement that came to nothing.
type Failure struct {
	Shape string `json:"shape"`
	Peer  string `json:"peer"`
	Round int    `json:"round"`
	Text  string `json:"text"`
}

// Load reads a file.
func Load(name string) (*File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f := new(File)
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// Save writes the file, or leaves the old one as it was.
func (f *File) Save(name string) error {
	text, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Begin adds a shape that is about to be measured by the last run. What was
// measured at it before is dropped: only what was measured in turns can be compared.
func (f *File) Begin(s Shape) {
	s.Run = len(f.Runs) - 1
	f.Samples = slices.DeleteFunc(f.Samples, func(old Sample) bool { return old.Shape == s.Name })
	f.Failures = slices.DeleteFunc(f.Failures, func(old Failure) bool { return old.Shape == s.Name })
	f.Shapes = slices.DeleteFunc(f.Shapes, func(old Shape) bool { return old.Name == s.Name })
	f.Shapes = append(f.Shapes, s)
}

// Order puts shapes and peers into the order of these names. Names that are not
// among them come last.
func (f *File) Order(shapes, peers []string) {
	place := func(names []string, name string) int {
		if i := slices.Index(names, name); i >= 0 {
			return i
		}
		return len(names)
	}
	slices.SortStableFunc(f.Shapes, func(a, b Shape) int {
		return cmp.Compare(place(shapes, a.Name), place(shapes, b.Name))
	})
	slices.SortStableFunc(f.Peers, func(a, b Peer) int {
		return cmp.Compare(place(peers, a.Name), place(peers, b.Name))
	})
}

// Keep drops all shapes and peers but those that are wanted.
func (f *File) Keep(shape, peer func(name string) bool) {
	f.Shapes = slices.DeleteFunc(f.Shapes, func(s Shape) bool { return !shape(s.Name) && !shape(s.Group) })
	f.Peers = slices.DeleteFunc(f.Peers, func(p Peer) bool { return !peer(p.Name) })
	has := func(s, p string) bool {
		return slices.ContainsFunc(f.Shapes, func(x Shape) bool { return x.Name == s }) &&
			slices.ContainsFunc(f.Peers, func(x Peer) bool { return x.Name == p })
	}
	f.Samples = slices.DeleteFunc(f.Samples, func(s Sample) bool { return !has(s.Shape, s.Peer) })
	f.Failures = slices.DeleteFunc(f.Failures, func(x Failure) bool { return !has(x.Shape, x.Peer) })
}
