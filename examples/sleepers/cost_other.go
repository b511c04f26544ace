//go:build !linux && !darwin

package main

import "time"

type costs struct {
	processor time.Duration
	memory    int64
}

func cost() costs { return costs{} }
