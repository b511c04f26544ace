package uring

import (
	"fmt"
	"strings"
	"syscall"
)

// Info is what a ring turned out to be.
type Info struct {
	Slots     int // operations at a time
	Entries   int // length of the submission queue
	CQEntries int // length of the completion queue
	Cancels   int // cancellations at a time
	Flags     uint32
	Features  uint32
	Memlock   uint64 // what the process may lock: the limit of registered buffers
	// Refused is what was wanted and is not there, and what the kernel said.
	Refused []Refusal

	supported [256]bool
}

// Refusal is something that the kernel did not grant.
type Refusal struct {
	What  string
	Errno syscall.Errno
}

// Supports tells whether the kernel knows the operation. A file system may still refuse it.
func (i *Info) Supports(op Op) bool { return i.supported[op] }

// String is one line for a log.
func (i *Info) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d slots, queues of %d and %d, flags", i.Slots, i.Entries, i.CQEntries)
	none := true
	for _, f := range flagNames() {
		if i.Flags&f.flag != 0 {
			b.WriteString(" " + f.name)
			none = false
		}
	}
	if none {
		b.WriteString(" none")
	}
	for _, r := range i.Refused {
		fmt.Fprintf(&b, ", no %s (%v)", r.What, r.Errno)
	}
	return b.String()
}

type flagName struct {
	flag uint32
	name string
}

func flagNames() []flagName {
	return []flagName{
		{setupCQSize, "CQSIZE"}, {setupSubmitAll, "SUBMIT_ALL"}, {setupTaskrunFlag, "TASKRUN_FLAG"},
		{setupSingleIssuer, "SINGLE_ISSUER"}, {setupDeferTaskrun, "DEFER_TASKRUN"}, {setupNoSQArray, "NO_SQARRAY"},
	}
}

func namesOf(flags uint32) string {
	var names []string
	for _, f := range flagNames() {
		if flags&f.flag != 0 {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, "|")
}
