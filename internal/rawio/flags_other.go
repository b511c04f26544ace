//go:build !(linux || darwin)

package rawio

func nonBlocking(uintptr) bool            { return false }
func appends(uintptr) bool                { return false }
func access(uintptr) (reads, writes bool) { return true, true }
