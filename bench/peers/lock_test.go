//go:build unix

package main

import (
	"path/filepath"
	"sync/atomic"
	"testing"
)

func TestWhoLocksTheSameFileWaits(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var given atomic.Bool
	done := make(chan error)
	go func() {
		again, err := lockFile(name)
		if err == nil {
			if !given.Load() {
				t.Error("two hold one lock")
			}
			again()
		}
		done <- err
	}()
	given.Store(true)
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
