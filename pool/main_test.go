package pool_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// tempDir is for examples, which have no testing.T.
var tempDir string

// TestMain looks for goroutines left behind by the tests. Tests that need a
// process of their own start this binary again, see child_test.go.
func TestMain(m *testing.M) {
	if child := os.Getenv(childVar); child != "" {
		children[child]()
		os.Exit(0)
	}
	if os.Getenv("IOLANE_DENY_RING") != "" { // so that Ring lanes have none
		denyRing()
	}
	var err error
	if tempDir, err = os.MkdirTemp("", "iolane"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(tempDir)
		os.Exit(code)
	}))
}
