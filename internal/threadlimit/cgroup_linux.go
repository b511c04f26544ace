package threadlimit

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// pids are the limits of the pids controller, version 1 or 2, from the cgroup of this
// process up to the top of what is mounted: each holds for all below it. What others have
// is what the cgroup counts without the threads of this process.
func pids(root fs.FS, threads int) []Limit {
	var limits []Limit
	for _, group := range groups(root) {
		for dir := group.dir; ; dir = path.Dir(dir) {
			file := dir + "/pids.max"
			if n, ok := number(root, file[1:]); ok {
				used, _ := number(root, dir[1:]+"/pids.current")
				limits = append(limits, Limit{By: file, Max: n, Others: max(used-threads, 0)})
			}
			if len(dir) <= len(group.top) {
				break
			}
		}
	}
	return limits
}

// group is a cgroup of this process: its folder, and the highest one above it that can
// be seen.
type group struct{ top, dir string }

// groups finds the cgroups of this process that may have a pids controller.
func groups(root fs.FS) []group {
	v1, v2 := memberships(text(root, "proc/self/cgroup"))
	var found []group
	var had []string // one mount of each will do
	for line := range strings.Lines(text(root, "proc/self/mountinfo")) {
		// 39 31 0:36 /docker/x /sys/fs/cgroup/pids rw,relatime - cgroup none rw,pids
		before, after, _ := strings.Cut(line, " - ")
		mount, kind := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(kind) < 3 {
			continue
		}
		var member string
		switch {
		case kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "pids"):
			member = v1
		case kind[0] == "cgroup2":
			member = v2
		}
		top := path.Clean(unescape(mount[4]))
		if member == "" || slices.Contains(had, kind[0]) || !strings.HasPrefix(top, "/") || top == "/" {
			continue
		}
		had = append(had, kind[0])
		found = append(found, group{top: top, dir: top + below(unescape(mount[3]), member)})
	}
	return found
}

// memberships are the paths of the cgroups of this process, by the kernel's own list:
// that of the pids controller of version 1, and that of version 2.
func memberships(list string) (v1, v2 string) {
	for line := range strings.Lines(list) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(part) < 3:
		case part[0] == "0" && part[1] == "":
			v2 = part[2]
		case slices.Contains(strings.Split(part[1], ","), "pids"):
			v1 = part[2]
		}
	}
	return v1, v2
}

// below is the path of a cgroup under a mount whose top is the cgroup root. A cgroup
// outside of it cannot be seen, so what holds for the top is all there is to know: so in a
// container with a cgroup namespace of another.
func below(root, member string) string {
	member = path.Clean(member)
	if root == "/" {
		root = ""
	}
	rest, ok := strings.CutPrefix(member, root)
	if !ok || strings.HasPrefix(rest, "/..") || rest != "" && rest[0] != '/' || rest == "/" {
		return ""
	}
	return rest
}

// unescape undoes what the kernel does to blanks in the list of mounts.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
