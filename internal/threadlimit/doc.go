// Package threadlimit adds up the threads that the lanes of a process may need, and
// refuses what the process could not have.
//
// A process that needs one thread more than it may have does not get an error: the
// Go runtime ends it, and nothing can catch that. Nor does Go ever give back a thread
// that a call has blocked. So the sum has to be right beforehand, when a lane is made
// or grows.
//
// # What is held against what
//
// Each lane claims the threads it may need at most. All claims together must not be
// more than any [Limit] leaves after what is kept: for other processes under the same
// limit, where that is known (cgroups), and for this process itself: GOMAXPROCS, since
// as many goroutines may run while all lanes are full, and 16 for the runtime (its
// monitor, its collector, threads between two tasks) and what blocks outside of lanes.
//
// Reading the limits takes about a tenth of a millisecond. They are read with the first claim, and
// again before a claim is refused, since they may have been raised or others may have
// gone. A limit that is lowered later is noticed by no claim that fits the older one.
// Nor is anybody refused because of lanes that were forgotten: before that the runtime is
// made to collect them.
//
// # The sum is of the process
//
// A limit of the process can only be held against a sum over the process, so there is
// one Ledger for all, the one piece of package state: zero, and nothing done, until
// the first lane is made. Everything else about it is in the type, so that tests have ledgers of
// their own with limits of their own.
package threadlimit
