package threadlimit

import (
	"slices"
	"testing"
	"testing/fstest"
)

const (
	firstNamespace = "         0          0 4294967295\n"
	nobody         = "Name:\tx\nUid:\t1000\t0\t0\t0\nThreads:\t7\nCapEff:\t0000000000000000\n"
	limitsOf64     = "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max processes             64                   128                  processes \n" +
		"Max open files            20                   20                   files     \n"
)

// root is a file system with these files.
func root(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

func TestNprocHoldsForAllButThoseWhomTheKernelExempts(t *testing.T) {
	for name, c := range map[string]struct {
		status, limits, uids string
		want                 []Limit
	}{
		"a user":           {nobody, limitsOf64, firstNamespace, []Limit{{By: "RLIMIT_NPROC", Max: 64}}},
		"root":             {"Uid:\t0\t1\t1\t1\nCapEff:\t0000000000000000\n", limitsOf64, firstNamespace, nil},
		"root by effect":   {"Uid:\t1\t0\t0\t0\n", limitsOf64, firstNamespace, []Limit{{By: "RLIMIT_NPROC", Max: 64}}},
		"CAP_SYS_ADMIN":    {"Uid:\t1\t1\t1\t1\nCapEff:\t0000000000200000\n", limitsOf64, firstNamespace, nil},
		"CAP_SYS_RESOURCE": {"Uid:\t1\t1\t1\t1\nCapEff:\t0000000001000000\n", limitsOf64, firstNamespace, nil},
		"all others":       {"Uid:\t1\t1\t1\t1\nCapEff:\tfffffffffedfffff\n", limitsOf64, firstNamespace, []Limit{{By: "RLIMIT_NPROC", Max: 64}}},
		"root in a user namespace": {
			"Uid:\t0\t0\t0\t0\nCapEff:\tffffffffffffffff\n", limitsOf64, "0 1000 1\n",
			[]Limit{{By: "RLIMIT_NPROC", Max: 64}},
		},
		"unlimited": {nobody, "Max processes             unlimited            1000000              processes \n", firstNamespace, nil},
		"very high": {
			nobody, "Max processes             18446744073709551614 unlimited            processes \n", firstNamespace,
			[]Limit{{By: "RLIMIT_NPROC", Max: 1<<31 - 1}},
		},
		"no such line": {nobody, "Max open files 20 20 files\n", firstNamespace, nil},
		"cut off":      {nobody, "Max processes", firstNamespace, nil},
		"nothing":      {},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"proc/self/status": c.status, "proc/self/limits": c.limits, "proc/self/uid_map": c.uids}
			if got := linux(root(files)); !slices.Equal(got, c.want) {
				t.Errorf("the limits are %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestTheKernelsOwnLimitsAreRead(t *testing.T) {
	got := linux(root(map[string]string{"proc/sys/kernel/threads-max": "3980\n", "proc/sys/kernel/pid_max": "32768\n"}))
	want := []Limit{{By: "/proc/sys/kernel/threads-max", Max: 3980}, {By: "/proc/sys/kernel/pid_max", Max: 32768}}
	if !slices.Equal(got, want) {
		t.Errorf("the limits are %+v, want %+v", got, want)
	}
}

func TestEachCgroupOnTheWayUpIsALimit(t *testing.T) {
	const (
		v1 = "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup none rw,pids\n"
		v2 = "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 none rw,nsdelegate\n"
	)
	for name, c := range map[string]struct {
		cgroup, mounts string
		files          map[string]string
		want           []Limit
	}{
		"version 1": {
			"9:name=systemd:/\n8:pids:/a/b\n0::/else\n", "1 2 3\n" + v1,
			map[string]string{
				"sys/fs/cgroup/pids/a/b/pids.max": "64\n", "sys/fs/cgroup/pids/a/b/pids.current": "17\n",
				"sys/fs/cgroup/pids/a/pids.max": "max\n", "sys/fs/cgroup/pids/a/pids.current": "99\n",
			},
			[]Limit{{By: "/sys/fs/cgroup/pids/a/b/pids.max", Max: 64, Others: 10}},
		},
		"version 2, several on the way": {
			"0::/a/b/c\n", v2,
			map[string]string{
				"sys/fs/cgroup/a/b/c/pids.max": "64\n", "sys/fs/cgroup/a/b/c/pids.current": "7\n",
				"sys/fs/cgroup/a/b/pids.max": "32\n", "sys/fs/cgroup/a/b/pids.current": "5\n", // read a moment earlier
				"sys/fs/cgroup/a/pids.max": "500\n", "sys/fs/cgroup/a/pids.current": "407\n",
				"sys/fs/pids.max": "1\n", // above the mount: no cgroup
			},
			[]Limit{
				{By: "/sys/fs/cgroup/a/b/c/pids.max", Max: 64},
				{By: "/sys/fs/cgroup/a/b/pids.max", Max: 32},
				{By: "/sys/fs/cgroup/a/pids.max", Max: 500, Others: 400},
			},
		},
		"a container without a namespace": {
			"8:pids:/docker/x/sub\n", "39 31 0:36 /docker/x /sys/fs/cgroup/pids ro - cgroup none rw,cpu,pids\n",
			map[string]string{"sys/fs/cgroup/pids/sub/pids.max": "9", "sys/fs/cgroup/pids/pids.max": "8", "sys/fs/cgroup/pids.max": "7"},
			[]Limit{{By: "/sys/fs/cgroup/pids/sub/pids.max", Max: 9}, {By: "/sys/fs/cgroup/pids/pids.max", Max: 8}},
		},
		"a container with one": {
			"0::/\n", v2,
			map[string]string{"sys/fs/cgroup/pids.max": "100\n", "sys/fs/cgroup/pids.current": "8"},
			[]Limit{{By: "/sys/fs/cgroup/pids.max", Max: 100, Others: 1}},
		},
		"a neighbour whose name begins alike": {
			"8:pids:/docker/xyz\n", "39 31 0:36 /docker/x /sys/fs/cgroup/pids ro - cgroup none rw,pids\n",
			map[string]string{"sys/fs/cgroup/pidsyz/pids.max": "1", "sys/fs/cgroup/pids/pids.max": "8"},
			[]Limit{{By: "/sys/fs/cgroup/pids/pids.max", Max: 8}},
		},
		"outside of the namespace": {
			"0::/../other\n", v2,
			map[string]string{"sys/fs/cgroup/pids.max": "8", "sys/fs/other/pids.max": "1"},
			[]Limit{{By: "/sys/fs/cgroup/pids.max", Max: 8}},
		},
		"both versions": {
			"8:pids:/a\n0::/b\n", v1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n",
			map[string]string{"sys/fs/cgroup/pids/a/pids.max": "8", "sys/fs/cgroup/unified/b/cgroup.procs": ""},
			[]Limit{{By: "/sys/fs/cgroup/pids/a/pids.max", Max: 8}},
		},
		"mounted twice, and with a blank": {
			"0::/\n", `41 31 0:38 / /my\040groups rw - cgroup2 none rw` + "\n" + v2,
			map[string]string{"my groups/pids.max": "8", "sys/fs/cgroup/pids.max": "8"},
			[]Limit{{By: "/my groups/pids.max", Max: 8}},
		},
		"not mounted":    {"0::/a\n", "39 31 0:36 / /proc rw - proc none rw\n", map[string]string{"sys/fs/cgroup/a/pids.max": "1"}, nil},
		"no membership":  {"", v1 + v2, map[string]string{"sys/fs/cgroup/pids.max": "1"}, nil},
		"not understood": {"0::/\nx\n\n:::\n", v2, map[string]string{"sys/fs/cgroup/pids.max": "-5\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"proc/self/status": nobody, "proc/self/cgroup": c.cgroup, "proc/self/mountinfo": c.mounts}
			for name, content := range c.files {
				files[name] = content
			}
			if got := linux(root(files)); !slices.Equal(got, c.want) {
				t.Errorf("the limits are\n%+v, want\n%+v", got, c.want)
			}
		})
	}
}

// What the kernel says may be anything, in a container that pretends to be one.
func FuzzNothingThatIsReadIsTooStrange(f *testing.F) {
	f.Add(nobody, limitsOf64, "0::/a/b\n", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 none rw\n", "max\n")
	f.Add("", "Max processes", "8:pids:/..\n", "1 2 3 /x // - cgroup a pids\n", "-1")
	f.Fuzz(func(t *testing.T, status, limits, cgroup, mounts, most string) {
		files := root(map[string]string{
			"proc/self/status": status, "proc/self/limits": limits, "proc/self/cgroup": cgroup, "proc/self/mountinfo": mounts,
			"sys/fs/cgroup/a/pids.max": most, "sys/fs/cgroup/pids.max": most, "sys/fs/cgroup/a/pids.current": most,
		})
		for _, c := range linux(files) {
			if c.By == "" || c.Max < 0 || c.Others < 0 {
				t.Errorf("a limit that says nothing: %+v", c)
			}
		}
	})
}
