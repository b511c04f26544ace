// Package cost tells what a process has cost.
package cost

import "time"

// Cost is that; zero where the system does not tell.
type Cost struct {
	Processor time.Duration
	Memory    int64 // the most there was, in bytes
}
