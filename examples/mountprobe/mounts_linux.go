package main

import (
	"os"
	"strconv"
	"strings"
)

// mounts returns what is mounted, in the order of mounting.
func mounts() ([]string, error) {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(string(info)) {
		// "36 35 98:0 /root /mount/point options …"; see proc_pid_mountinfo(5).
		if fields := strings.Fields(line); len(fields) > 4 {
			paths = append(paths, unescape(fields[4]))
		}
	}
	return paths, nil
}

// unescape undoes the octal escapes of blanks and the like: \040.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
