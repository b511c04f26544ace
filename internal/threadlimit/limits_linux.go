package threadlimit

import (
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
)

func ofSystem() []Limit { return linux(os.DirFS("/")) }

// linux reads what the kernel says. A file that is not there, or says what is not
// understood, sets no limit.
func linux(root fs.FS) []Limit {
	self := readStatus(root)
	limits := pids(root, self.threads)
	if n, ok := nproc(root, self); ok {
		limits = append(limits, Limit{By: "RLIMIT_NPROC", Max: n})
	}
	for _, name := range []string{"threads-max", "pid_max"} { // small on small machines
		if n, ok := number(root, "proc/sys/kernel/"+name); ok {
			limits = append(limits, Limit{By: "/proc/sys/kernel/" + name, Max: n})
		}
	}
	return limits
}

// status is what /proc/self/status says that matters here.
type status struct {
	threads    int
	uid        string // the real one
	privileges uint64 // CapEff
}

const (
	capSysAdmin    = 21
	capSysResource = 24
)

func readStatus(root fs.FS) (s status) {
	for line := range strings.Lines(text(root, "proc/self/status")) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "Threads":
			s.threads, _ = strconv.Atoi(fields[0])
		case "Uid":
			s.uid = fields[0]
		case "CapEff":
			s.privileges, _ = strconv.ParseUint(fields[0], 16, 64)
		}
	}
	return s
}

// nproc is RLIMIT_NPROC, if there is such a limit for this process. The kernel counts all
// threads of the same user against it, also those of other processes; these are not
// known here without reading all of /proc.
func nproc(root fs.FS, self status) (int, bool) {
	// The kernel makes an exception for the user 0 and for two capabilities: those of
	// the first user namespace. In another one they count for nothing.
	first := strings.Join(strings.Fields(text(root, "proc/self/uid_map")), " ") == "0 0 4294967295"
	if first && (self.uid == "0" || self.privileges&(1<<capSysAdmin|1<<capSysResource) != 0) {
		return 0, false
	}
	for line := range strings.Lines(text(root, "proc/self/limits")) {
		if value, ok := strings.CutPrefix(line, "Max processes"); ok {
			if fields := strings.Fields(value); len(fields) > 0 {
				return parse(fields[0])
			}
		}
	}
	return 0, false
}

func number(root fs.FS, name string) (int, bool) { return parse(strings.TrimSpace(text(root, name))) }

// parse understands a number that is a limit at all. "max" and "unlimited" are none.
func parse(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return int(min(n, math.MaxInt32)), err == nil
}

// text is the content of a file, or nothing.
func text(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}
