//go:build amd64 || 386 || arm64

package ringdriver

// self identifies the calling goroutine, as long as that lives: it is the address of
// what the runtime knows of it. Only whoever is on the goroutine of a fiber may use its
// place on the driver; a context, which can be handed to anybody, does not tell.
func self() uintptr
