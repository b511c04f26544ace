package pinned

import "strings"

// MaxThreads is the largest number of threads, below the 10,000 at which the runtime
// ends the process.
const MaxThreads = 8192

// maxCPU bounds the numbers of processors; Linux knows at most 8192 of them.
const maxCPU = 1 << 16

// Config says what threads there are. Errors name its fields as the user knows them, by
// lane.PinnedConfig: an *ioerr.ArgumentError what no platform could use, an
// *ioerr.UnsupportedError what this one cannot do, or this process may not.
type Config struct {
	Threads int // 1 to MaxThreads

	// Name is for errors, and on Linux the name of the threads, as "name-3"; there the
	// front of it is cut to what fits into 15 bytes. Empty: no name is set.
	Name string

	// Start runs on each thread before its first task, replacements included. An error, a
	// panic or Goexit is an *ioerr.StartError. May be nil.
	Start func(i int) error

	// Stop runs on each thread whose Start has succeeded, as the last thing there: also
	// on one that was tainted, in the state its task has left. A panic or Goexit is a
	// *ioerr.StopError, which Close returns (the first 16). May be nil.
	Stop func(i int)

	// CPUs are the sets of processors that the threads may use: thread i those in
	// CPUs[i%len(CPUs)]. One set is for all of them, N sets bind each to its own. Linux
	// only. Empty: not changed.
	CPUs [][]int

	Nice       int        // the thread's nice value, -20 to 19. Linux only. 0: not changed
	IOPriority IOPriority // Linux only. Zero: not changed

	// Keep, if positive, lets tainted threads sleep until Close instead of ending them,
	// since their end would signal children (PR_SET_PDEATHSIG). So many are replaced;
	// those beyond are kept too, but their numbers stay vacant (ioerr.ErrKept). Threads and
	// Keep together are at most MaxThreads.
	Keep int
}

// IOClass is a scheduling class of disk requests.
type IOClass uint8

// The classes of Linux. The numbers are the kernel's.
const (
	IORealTime   IOClass = iota + 1 // before all others; needs CAP_SYS_ADMIN or CAP_SYS_NICE
	IOBestEffort                    // what everybody has
	IOIdle                          // when nobody else wants the disk
)

// IOPriority is the priority of a thread's disk requests.
type IOPriority struct {
	Class IOClass
	Level int // 0 (first) to 7; 0 with IOIdle
}

// Check reports the first field that cannot be used at all, or not on this platform. New
// does the same.
func (c *Config) Check() error {
	if err := c.check(); err != nil {
		return err
	}
	return supported(c)
}

// check reports the first field that no platform could use.
func (c *Config) check() error {
	if c.Threads < 1 || c.Threads > MaxThreads {
		return invalid("Workers", c.Threads, "must be between 1 and 8192")
	}
	if strings.IndexByte(c.Name, 0) >= 0 {
		return invalid("Name", c.Name, "must not hold a NUL")
	}
	for _, set := range c.CPUs {
		if len(set) == 0 {
			return invalid("CPUs", c.CPUs, "no set may be empty")
		}
		for _, cpu := range set {
			if cpu < 0 || cpu >= maxCPU {
				return invalid("CPUs", c.CPUs, "no such processor")
			}
		}
	}
	if c.Nice < -20 || c.Nice > 19 {
		return invalid("Nice", c.Nice, "must be between -20 and 19")
	}
	if p := c.IOPriority; p.Class > IOIdle || p.Level < 0 || p.Level > 7 ||
		p.Level > 0 && (p.Class == 0 || p.Class == IOIdle) {
		return invalid("IOPriority", p, "no such class or level")
	}
	if c.Keep < 0 || c.Keep > MaxThreads-c.Threads {
		return invalid("Keep", c.Keep, "must be between 0 and 8192 less the threads")
	}
	return nil
}
