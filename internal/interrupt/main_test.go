package interrupt_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// holdEnv makes a copy of this test program hold a lock: see holdLock.
const holdEnv = "IOLANE_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		holdLock(path)
		return
	}
	goleak.VerifyTestMain(m)
}
