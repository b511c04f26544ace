package uring

import "strconv"

// Op is a kind of operation.
type Op uint8

// The operations that a [Ring] has methods for.
const (
	OpNop         Op = 0
	OpReadv       Op = 1
	OpWritev      Op = 2
	OpFsync       Op = 3
	OpReadFixed   Op = 4
	OpWriteFixed  Op = 5
	OpPollAdd     Op = 6
	OpTimeout     Op = 11
	OpAsyncCancel Op = 14
	OpFallocate   Op = 17
	OpOpenat      Op = 18
	OpClose       Op = 19
	OpStatx       Op = 21
	OpRead        Op = 22
	OpWrite       Op = 23
	OpFadvise     Op = 24
	OpRenameat    Op = 35
	OpUnlinkat    Op = 36
	OpMkdirat     Op = 37
	OpFtruncate   Op = 55
)

// String returns the name of the operation.
func (o Op) String() string {
	names := [...]string{
		OpNop: "nop", OpReadv: "readv", OpWritev: "writev", OpFsync: "fsync", OpReadFixed: "read_fixed", OpWriteFixed: "write_fixed",
		OpPollAdd: "poll_add", OpTimeout: "timeout", OpAsyncCancel: "async_cancel", OpFallocate: "fallocate", OpOpenat: "openat",
		OpClose: "close", OpStatx: "statx", OpRead: "read", OpWrite: "write", OpFadvise: "fadvise", OpRenameat: "renameat",
		OpUnlinkat: "unlinkat", OpMkdirat: "mkdirat", OpFtruncate: "ftruncate",
	}
	if int(o) < len(names) && names[o] != "" {
		return names[o]
	}
	return "operation " + strconv.Itoa(int(o))
}
