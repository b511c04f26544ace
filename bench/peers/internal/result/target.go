package result

// A Target is one promise: a metric of one of our lanes at a shape is at most so
// many times that of another.
type Target struct {
	Row    string // what it is about, in words
	Shape  string
	Peer   string // ours
	Metric Metric
	Max    float64 // times what it is set against; by itself if that is nothing
	Than   Than
	Note   string // how the words were read, where they leave a choice

	// Waits is why there is nothing to measure yet. Such a target neither passes
	// nor misses.
	Waits string
}

// Than is what a target is set against: nothing, a peer, or the best of a class,
// which is the one with the lowest median time at the shape. A percentile too is
// compared with that peer's.
type Than struct {
	Peer  string
	Best  Class
	Shape string // if it is another one than the target's
}

// Targets are those of issue 3, row by row.
func Targets() []Target {
	var all []Target
	for _, rows := range [][]Target{
		dispatchTargets(), admissionTargets(), crowdTargets(), processorTargets(), blockingTargets(),
		transactionTargets(), otherTargets(),
	} {
		all = append(all, rows...)
	}
	return all
}

// A form of writing targets down.
type goal struct {
	metric Metric
	max    float64
	than   Than
	note   string
}

// targets are goals of one of our lanes at one shape.
func targets(row, shape, peer string, goals ...goal) []Target {
	var all []Target
	for _, g := range goals {
		all = append(all, Target{Row: row, Shape: shape, Peer: peer, Metric: g.metric, Max: g.max, Than: g.than, Note: g.note})
	}
	return all
}

func than(peer string) Than { return Than{Peer: peer} }

func best(c Class) Than { return Than{Best: c} }

const (
	threads   = "iolane"
	strict    = "iolane-strict"
	unguarded = "iolane-unguarded"
)

func dispatchTargets() []Target {
	var all []Target
	for _, x := range []struct{ row, shape string }{
		{"empty call, one caller, context.Background()", "dispatch"},
		{"the same returning an error", "failure"},
	} {
		all = append(all, targets(x.row, x.shape, threads,
			goal{Time, 0.66, than("x-semaphore"), ""},
			goal{Time, 0.5, than("chan-sem"), "the plain select; chan-sem-try is faster, see the table"},
			goal{Time, 1.0 / 17, best(WorkerPools), "any worker pool: the fastest"},
			goal{Time, 1.0 / 30, than("ants"), "ants-func too is a worker pool"},
			goal{Time, 1.0 / 60, than("pond"), ""},
			goal{Allocs, 0, Than{}, ""},
		)...)
	}
	all = append(all, targets("the same with a capturing closure", "capture", threads, goal{Allocs, 0, Than{}, ""})...)
	all = append(all, targets("empty call, cancellable context, re-entry mark", "dispatch-ctx", threads,
		goal{Time, 1.2, than("x-semaphore"), ""}, goal{Allocs, 1, Than{}, ""})...)
	all = append(all, targets("empty call, cancellable context, guard off", "dispatch-ctx", unguarded,
		goal{Time, 0.66, than("x-semaphore"), ""}, goal{Allocs, 0, Than{}, ""})...)
	return append(all, targets("GOMAXPROCS callers, slots to spare", "dispatch-par", threads,
		goal{Time, 0.2, than("x-semaphore"), ""})...)
}

func admissionTargets() []Target {
	all := targets("full lane refuses", "refuse", threads,
		goal{Time, 1, than("chan-sem"), "a select with default on a full channel; that no locked operation is used is for a profile to show"},
		goal{Allocs, 0, Than{}, ""})
	all = append(all, targets("256 callers queued behind a held lane, drained", "drain-256", threads,
		goal{Time, 1, than("chan-sem"), ""}, goal{Time, 0.7, than("x-semaphore"), ""})...)
	return append(all, targets("queue, cancel, return", "cancel-queued", threads,
		goal{Time, 1.1, than("chan-sem"), ""}, goal{Time, 1, than("x-semaphore"), ""})...)
}

func crowdTargets() []Target {
	all := targets("64 callers over 4 slots, empty call", "loop-64", threads,
		goal{Time, 0.3, than("x-semaphore"), ""})
	all = append(all, targets("64 callers over 4 slots, call yields the processor", "loop-64-yield", threads,
		goal{Time, 0.87, best(BoundedPeers), ""})...)
	all = append(all, targets("64 callers over 4 slots, call yields the processor, strict", "loop-64-yield", strict,
		goal{Time, 1, best(BoundedPeers), ""}, goal{P99, 1, best(BoundedPeers), ""})...)
	all = append(all, targets("64 callers over 4 slots, 2 us of CPU", "loop-64-2us", threads,
		goal{Time, 0.8, best(BoundedPeers), ""},
		goal{Time, 1.1, than("bare"), "unbounded: a goroutine for each caller, and nothing else"},
		goal{P99, 0.1, than("chan-sem"), ""})...)
	return append(all, targets("64 callers over 8 slots, cached 4 KiB pread", "pread-64", threads,
		goal{Time, 0.83, best(BoundedPeers), ""},
		goal{Time, 1.1, than("bare"), ""},
		goal{P99, 0.3, than("chan-sem"), "of a channel as semaphore, as in the row before"})...)
}

func processorTargets() []Target {
	var all []Target
	for _, x := range []struct{ row, shape string }{
		{"1000 x 10 us", "conc-10us"}, {"40 x 100 us", "contend-10"},
		{"400 x 50 us", "contend-100"}, {"4000 x 10 us", "contend-1000"},
	} {
		all = append(all, targets(x.row+" over 4 slots", x.shape, threads,
			goal{Time, 1.05, than("bare"), ""},
			goal{P99, 1.05, best(BoundedPeers), "p99 of the bounded peer that is fastest"})...)
	}
	return all
}

func blockingTargets() []Target {
	all := targets("one caller, cached 4 KiB pread", "pread", threads,
		goal{Time, 1.02, than("bare"), ""}, goal{Time, 0.5, best(WorkerPools), ""})
	for _, x := range []struct{ row, shape string }{
		{"nanosleep 50 us, 1 caller", "sleep-50us"}, {"nanosleep 50 us, 64 callers", "sleep-50us-64"},
		{"write and fsync, 16 callers over 4", "fsync-16"},
	} {
		all = append(all, targets(x.row, x.shape, threads,
			goal{Time, 1 / 0.95, best(BoundedPeers), "0.95 of its throughput"}, goal{P99, 1.1, than("chan-sem"), ""})...)
	}
	return append(all, targets("nanosleep 50 us, 64 callers", "sleep-50us-64", threads,
		goal{P99, 0.5, best(WorkerPools), "asked of this shape alone: with one caller nobody waits, and fsync is the disk's tail (lanes.md 6)"})...)
}

func transactionTargets() []Target {
	const pair = "mutex-semaphore"
	all := targets("transaction, one caller, one resource", "tx-1-1", threads,
		goal{Time, 0.69, than(pair), ""}, goal{Time, 0.22, than("puddle"), ""})
	all = append(all, targets("transaction, 64 callers, one resource", "tx-1-64", threads,
		goal{Time, 1, than(pair), ""}, goal{Time, 0.2, than("puddle"), ""})...)
	all = append(all, targets("transaction, 64 callers, one resource, strict", "tx-1-64", strict,
		goal{P99, 0.3, than(pair), ""}, goal{Time, 0.5, than("puddle"), ""})...)
	return append(all, targets("transaction, 64 callers, eight resources", "tx-8-64", threads,
		goal{Time, 0.4, best(BoundedPeers), ""})...)
}

func otherTargets() []Target {
	all := targets("new, one call, shutdown", "lifecycle", threads,
		goal{Time, 1000, Than{}, "ns"}, goal{Goroutines, 0, Than{}, ""},
		goal{Time, 0.1, than("ants"), ""}, goal{Time, 0.1, than("pond"), ""})
	all = append(all, targets("one 10 ms call among 1 us calls, 4 slots", "short-long", threads,
		goal{P99, 1.5, Than{Peer: threads, Shape: "short"}, "the same lane without the long call"})...)
	for _, x := range []struct {
		shape string
		limit float64
	}{{"threads-8", 8}, {"threads-64", 64}} {
		all = append(all, targets("10,000 callers, peak threads", x.shape, threads,
			goal{Threads, x.limit + 5, Than{}, "limit + 5"})...)
	}
	const abandoning, pinned = "a call that may be left (Abandoning), empty", "Pinned lane, empty call"
	return append(all,
		Target{Row: abandoning, Shape: "dispatch", Peer: "iolane-abandoning", Metric: Time, Max: 1.1,
			Than: than("chan-workers-pooled")},
		Target{Row: abandoning, Shape: "dispatch", Peer: "iolane-abandoning", Metric: Allocs, Max: 3},
		Target{Row: pinned, Shape: "dispatch", Peer: "iolane-pinned", Metric: Time, Max: 1.1,
			Than: than("chan-workers-locked")},
		Target{Row: pinned + ", 16 for each wake", Shape: "dispatch-16", Peer: "iolane-pinned", Metric: Time, Max: 1.0 / 8,
			Than: Than{Peer: "chan-workers-locked", Shape: "dispatch"}},
	)
}
