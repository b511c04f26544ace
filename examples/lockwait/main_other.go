//go:build !(linux || darwin || freebsd)

package main

import (
	"fmt"
	"os"
)

// main has nothing to work with: this system has no flock.
func main() {
	fmt.Fprintln(os.Stderr, "lockwait: there is no flock here")
	os.Exit(1)
}
