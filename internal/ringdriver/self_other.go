//go:build !amd64 && !386 && !arm64

package ringdriver

// self is not known here; fibers then run on the goroutines of their callers.
func self() uintptr { return 0 }
