//go:build !(linux || darwin || freebsd)

// Command lockwait needs flock, which this system does not have.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "lockwait: there is no flock here")
	os.Exit(1)
}
