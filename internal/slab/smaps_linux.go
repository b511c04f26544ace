package slab

import (
	"bufio"
	"strconv"
	"strings"
)

// hugeBytes looks up how much of the mapping that begins at start is in huge pages. What
// the kernel does not tell counts as none.
//
// A look is the only way to know: madvise succeeds also where huge pages are switched
// off, and where none is free.
func hugeBytes(k kernel, start uintptr) int {
	r, err := k.smaps()
	if err != nil {
		return 0
	}
	defer func() { _ = r.Close() }()
	prefix := strconv.FormatUint(uint64(start), 16) + "-"
	here := false
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		name, value, _ := strings.Cut(line, ":")
		switch {
		case strings.Contains(name, "-"): // the first line of a mapping: "7f00-7f20 rw-p 00000000 00:00 0"
			if here {
				return 0
			}
			here = strings.HasPrefix(strings.TrimLeft(line, "0"), prefix)
		case here && name == "AnonHugePages":
			kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			return kib << 10
		}
	}
	return 0
}
