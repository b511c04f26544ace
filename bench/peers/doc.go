// Command peers measures iolane's lanes beside every other way to run blocking
// calls, a bounded number at a time, and says which targets are met.
//
//	go run .                                   everything, five rounds, to results.json
//	go run . -shapes dispatch,pread -peers 'iolane*,x-semaphore' -rounds 9
//	go run . -list                             the shapes and the peers
//	go run . -table results.json               tables in Markdown
//	go run . -svg results.json > bench.svg     a drawing, a panel for each shape
//	go run . -check results.json               the targets, and exit status 1 if one is missed
//
// -shapes and -peers also choose what is shown of a file, and -against what its
// times are set against.
//
// # What is measured
//
// All peers stand behind one contract (package internal/peer): a call with a
// context goes in, its caller waits, its result and error come out. A shape
// (package internal/shape) is a pattern of calls. Each measurement is a process of
// its own, so that no peer inherits another's heap, threads or luck. The peers of
// one shape take turns, round after round, and each round begins with another one;
// ratios are taken within a round, and their median over the rounds is what counts.
// The work of calls is a fixed number of steps of a loop, timed once at the start
// for all processes: a loop on the clock would do less work whenever its thread
// did not run.
//
// The time of a call is all the time that passed, divided by the number of calls;
// percentiles are of what single callers waited. Short calls are timed without
// reading the clock at each one, and get their percentiles from a run of their own,
// which contain what reading the clock takes (30 to 50 ns).
// Processor time is user and system time of the whole process. Allocations and
// goroutines are those of the whole process too, so that in shapes where callers
// come and go they contain the callers' own.
//
// # How to measure
//
// On a machine where nothing else runs. With -lock FILE no two runs that name the
// same file measure at the same time. The load of the machine at the start and at
// the end is part of the results. A whole run takes half an hour on two cores; -add
// measures some shapes again and keeps the rest of the file. A shape is always
// measured as a whole: what was not measured in turns cannot be compared.
//
// -procs sets GOMAXPROCS. A goroutine in a system call keeps its processor until the
// runtime notices, so the shapes with nanosleep change with it, for all peers alike:
// compare -procs 2 with -procs 10 on two cores and eight slots.
//
// # This module
//
// It is a module of its own, so that the core does not require what it is compared
// with. It is part of the workspace. That changes no version that the core or the
// examples are built with, and the versions that a run measured are in its results.
package main
