package threadlimit

// Claimed is the sum of all shares.
func (l *Ledger) Claimed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.claimed
}

// Besides is what is kept in addition to GOMAXPROCS.
const Besides = besides

// System reads the limits of the process that runs the tests.
func System() []Limit { return system() }

// MaxThreads is that of debug.SetMaxThreads.
func MaxThreads() int { return maxThreads() }
