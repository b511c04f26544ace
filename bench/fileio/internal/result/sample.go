// Package result is what came out: samples, how they are set against one another, tables,
// and the targets.
package result

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// Sample is one measurement of one contender.
type Sample struct {
	Case      string
	Contender string
	Round     int
	Ops       int64
	Bytes     int64
	Elapsed   time.Duration
	CPU       time.Duration // of the whole process, kernel threads that belong to it included
	P50, P99  time.Duration // of an operation; 0: not known
	Threads   int64         // of the process at most; 0: not known
	RSS       int64         // bytes at most; 0: not known
	Others    float64       // share of the machine's processors that others used, the kernel's own threads among them
}

// Rate is operations a second.
func (s *Sample) Rate() float64 { return float64(s.Ops) / s.Elapsed.Seconds() }

// Throughput is bytes a second.
func (s *Sample) Throughput() float64 { return float64(s.Bytes) / s.Elapsed.Seconds() }

// CPUEach is what an operation took of the processors.
func (s *Sample) CPUEach() time.Duration {
	if s.Ops == 0 {
		return 0
	}
	return s.CPU / time.Duration(s.Ops)
}

// Absence is why a contender has no samples of a case, or of any if Case is empty.
type Absence struct {
	Case, Contender, Reason string
	Failed                  bool // it was tried
}

// String is one line.
func (a Absence) String() string {
	what, where := "left out", ""
	if a.Failed {
		what = "FAILED"
	}
	if a.Case != "" {
		where = " at " + a.Case
	}
	return fmt.Sprintf("%s: %s%s: %s", what, a.Contender, where, a.Reason)
}

// Run is one start of the command.
type Run struct {
	Started time.Time
	Command []string
	Machine Machine
	Place   string // folder or device that was measured on, and what it is
}

// Machine is what it ran on.
type Machine struct {
	CPU, Kernel, Go, Commit, Fio, HugePages string
	CPUs, Procs                             int
	Load                                    string
}

// File is all that is kept.
type File struct {
	Runs    []Run
	Samples []Sample
	Absent  []Absence
}

// Load reads a file that Save has written.
func Load(name string) (*File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f := new(File)
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range f.Samples {
		if s := &f.Samples[i]; s.Ops <= 0 || s.Elapsed <= 0 {
			return nil, fmt.Errorf("%s: sample %d: nothing done, or in no time", name, i)
		}
	}
	return f, nil
}

// Save writes it.
func (f *File) Save(name string) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// Drop removes the samples of a case, which is about to be measured again.
func (f *File) Drop(cases ...string) {
	f.Samples = slices.DeleteFunc(f.Samples, func(s Sample) bool { return slices.Contains(cases, s.Case) })
}

// Cases are the names of all cases, in order of appearance.
func (f *File) Cases() []string {
	return distinct(f.Samples, func(s *Sample) string { return s.Case })
}

// Of are the samples of a contender at a case.
func (f *File) Of(name, contender string) []Sample {
	var all []Sample
	for _, s := range f.Samples {
		if s.Case == name && s.Contender == contender {
			all = append(all, s)
		}
	}
	return all
}

// contenders of a case, in order of their names.
func (f *File) contenders(name string) []string {
	var here []Sample
	for _, s := range f.Samples {
		if s.Case == name {
			here = append(here, s)
		}
	}
	all := distinct(here, func(s *Sample) string { return s.Contender })
	slices.Sort(all)
	return all
}

func distinct(all []Sample, of func(*Sample) string) []string {
	var names []string
	for i := range all {
		if n := of(&all[i]); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
