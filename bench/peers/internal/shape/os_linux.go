package shape

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// cpuTime is what the process has used so far, in user mode and in the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadCount is how many threads the process has. That is also how many it had at
// most: the runtime keeps its threads, except those that a goroutine locked and
// took with it.
func threadCount() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(status, []byte("\nThreads:"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil {
		return 0
	}
	return n
}

// nanosleep blocks the thread, as any blocking system call does. time.Sleep would
// only park the goroutine.
func nanosleep(d time.Duration) error {
	ts := syscall.NsecToTimespec(int64(d))
	for {
		err := syscall.Nanosleep(&ts, &ts)
		if err != syscall.EINTR {
			return err
		}
	}
}

func pread(fd uintptr, buf []byte, off int64) (int, error) {
	return syscall.Pread(int(fd), buf, off)
}
