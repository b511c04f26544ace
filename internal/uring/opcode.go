package uring

import "strconv"

// Op is a kind of operation.
type Op uint8

// The operations that a [Ring] has methods for.
const (
	OpNop         Op = 0
	OpReadv       Op = 1
	OpWritev      Op = 2
	OpReadFixed   Op = 4
	OpWriteFixed  Op = 5
	OpTimeout     Op = 11
	OpAsyncCancel Op = 14
	OpRead        Op = 22
	OpWrite       Op = 23
)

// String returns the name of the operation.
func (o Op) String() string {
	names := [...]string{
		OpNop: "nop", OpReadv: "readv", OpWritev: "writev", OpReadFixed: "read_fixed", OpWriteFixed: "write_fixed",
		OpTimeout: "timeout", OpAsyncCancel: "async_cancel", OpRead: "read", OpWrite: "write",
	}
	if int(o) < len(names) && names[o] != "" {
		return names[o]
	}
	return "operation " + strconv.Itoa(int(o))
}
