package lend

// Entries is how many keys are remembered.
func Entries[K comparable, R any](k *Keyed[K, R]) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.lenders)
}
