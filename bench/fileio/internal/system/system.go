// Package system is what the measurements ask of the operating system beyond package os.
// Elsewhere than on 64-bit Linux its functions return errors that match
// errors.ErrUnsupported.
package system

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Status is a number of /proc/PID/status: Threads, VmHWM (in kB), …; 0 if there is none.
// pid may be "self".
func Status(pid, field string) int64 {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			words := strings.Fields(value)
			if len(words) == 0 {
				return 0
			}
			n, err := strconv.ParseInt(words[0], 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

// FirstLine of a file; empty if it cannot be read.
func FirstLine(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// Busy is how long the processors of the machine have worked, or were kept from us by
// others on the same host.
func Busy() time.Duration {
	words := strings.Fields(FirstLine("/proc/stat")) // cpu user nice system idle iowait irq softirq steal
	if len(words) < 9 {
		return 0
	}
	const idle, iowait = 4, 5
	ticks := int64(0)
	for i, word := range words[:9] {
		if i == 0 || i == idle || i == iowait {
			continue
		}
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ
}
