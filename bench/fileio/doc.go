// Command fileio measures the file operations of iolane's lanes beside fio, blocking
// system calls and a bare io_uring, in turns, and says which targets are met. It needs
// Linux on amd64 or arm64, and fio for what is set against fio.
//
//	go run .                                    shape seq: 16 GiB in blocks of 512 KiB, in the folder of temporary files
//	go run . -loop 4g -rounds 10                the same on a loop device over memory: no noise of a disk (root)
//	go run . -shape rand,goroutines -rounds 10 -json results.json
//	go run . -shape rand -cases 'rand/direct/read/*' -peers 'fio-*,ring-*'
//	go run . -check results.json                the targets: met, missed, or not measured
//	go run . -list                              shapes, cases and contenders
//	go run . -quick                             everything once and small: only that it works
//
// # What is measured
//
// A shape (package internal/work) is a pattern of operations, and has cases. All
// contenders (package internal/contender) get the operations of a case from the same
// source and give them back to it; it counts, times and checks. Each measurement is a
// process of its own, so that no contender inherits another's threads, heap or rings.
// The contenders take turns, in another random order in each round; ratios are taken
// within a round, and their median over the rounds is what counts. Best to best compares
// the rounds that were disturbed least.
//
// seq writes a file in blocks of 512 KiB with 64 in flight, direct, its blocks reserved
// before, reads it back, checks every word of 64 bits against a pattern made of its
// offset, and removes it. The check is a pass of its own, which is not timed, since fio does
// not check either; -check-timed makes it a part of the timed one. rand reads and writes
// 4 KiB at random for a time, direct and through a page cache that has everything, half
// or nothing; of each block that is read the first sector is checked. goroutines and
// saturated are direct reads as in rand by many goroutines, in the latter beside as many that
// compute as there are processors. Lanes that hold a thread for each call, and the semaphore
// of pread, have as many slots as the depth, at most 64 there; a ring lane has one for each
// goroutine. nop is operations that do nothing. timers is sleeps of 2 s.
//
// Throughput is printed in GB/s (10^9) and GiB/s (2^30): the two differ by 7 %, more than most
// differences here. Processor time is that of the whole process with the threads that the
// kernel runs for it; for fio it is what fio reports of its own thread. Percentiles are of
// what a caller waited for an operation, and those of fio of its completion latency;
// fio-best does not take any, and in a batch nobody sees them. Threads and memory are the
// most that the process had.
//
// # How to measure
//
// On a machine where nothing else runs, with -lock FILE if others may measure: who names
// the same file waits. The last columns tell how much of the processors others used; -others
// has a measurement made again that they disturbed. Disks of virtual machines are shared with others whom nobody sees: ten
// rounds or more, and for large blocks the loop device. fio counts in milliseconds, so a
// sequential case should take a second. Its --runtime must be whole seconds (fio 3.33
// takes a fraction for none), so the time of random cases is at least one.
//
// # This module
//
// It is a module of its own beside the core, and part of the workspace. It uses internal
// packages of the core, which it may as its path begins with the core's.
package main
