//go:build !linux

package main

import (
	"errors"
	"time"
)

func block(time.Duration) error { return errors.New("-lane threads is for Linux") }
