//go:build !linux

package pool_test

// These need system calls that block; see the files for Linux.
func deadChild() {}
func leftChild() {}
func manyChild() {}
func lockChild() {}
