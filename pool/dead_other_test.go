//go:build !linux

package pool_test

// deadChild needs system calls that block; see dead_linux_test.go.
func deadChild() {}
