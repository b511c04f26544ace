//go:build !(linux || darwin || freebsd)

package main

import "os"

// dataOf counts all as data, since the system does not tell.
func dataOf(_ *os.File, _ uint64, size int64) ([]extent, error) { return whole(size), nil }
