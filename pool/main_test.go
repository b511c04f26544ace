package pool_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines left behind by the tests. Tests that need a
// process of their own start this binary again, see child_test.go.
func TestMain(m *testing.M) {
	if child := os.Getenv(childVar); child != "" {
		children[child]()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
