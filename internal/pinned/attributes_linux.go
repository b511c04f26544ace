package pinned

import (
	"strconv"
	"syscall"
	"unsafe"
)

// Numbers of the kernel that package syscall does not have.
const (
	prSetName        = 15
	whoProcess       = 1 // of ioprio_set: one thread
	ioClassShift     = 13
	maxName          = 15 // bytes of a thread's name
	bitsPerWord      = int(unsafe.Sizeof(uintptr(0))) * 8
	callingThread    = 0
	priorityOfThread = syscall.PRIO_PROCESS
)

// supported: Linux can do all there is.
func supported(*Config) error { return nil }

// threadID returns the number of the calling thread.
func threadID() int {
	id, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	return int(id)
}

// onMainThread reports whether the calling thread is the main thread of the process.
func onMainThread() bool { return threadID() == syscall.Getpid() }

// prepare gives the calling thread, number i, what the configuration asks for.
func prepare(c *Config, i int) error {
	if c.Name != "" {
		if err := setName(threadName(c.Name, i)); err != nil {
			return denied("Name", err)
		}
	}
	if len(c.CPUs) > 0 {
		if err := setAffinity(c.CPUs[i%len(c.CPUs)]); err != nil {
			return denied("CPUs", err)
		}
	}
	if c.Nice != 0 {
		if err := syscall.Setpriority(priorityOfThread, callingThread, c.Nice); err != nil {
			return denied("Nice", err)
		}
	}
	if p := c.IOPriority; p.Class != 0 {
		if err := setIOPriority(p); err != nil {
			return denied("IOPriority", err)
		}
	}
	return nil
}

// threadName cuts the front of the name so that the number fits behind it.
func threadName(name string, i int) string {
	number := "-" + strconv.Itoa(i)
	return name[:min(len(name), maxName-len(number))] + number
}

func setName(name string) error {
	var b [maxName + 1]byte
	copy(b[:maxName], name)
	_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, prSetName, uintptr(unsafe.Pointer(&b)), 0)
	return fault(e)
}

func setAffinity(cpus []int) error {
	var set []uintptr
	for _, cpu := range cpus {
		for len(set) <= cpu/bitsPerWord {
			set = append(set, 0)
		}
		set[cpu/bitsPerWord] |= 1 << (cpu % bitsPerWord)
	}
	_, _, e := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, callingThread,
		uintptr(len(set)*bitsPerWord/8), uintptr(unsafe.Pointer(&set[0])))
	return fault(e)
}

func setIOPriority(p IOPriority) error {
	_, _, e := syscall.RawSyscall(syscall.SYS_IOPRIO_SET, whoProcess, callingThread,
		uintptr(p.Class)<<ioClassShift|uintptr(p.Level))
	return fault(e)
}

func fault(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}
