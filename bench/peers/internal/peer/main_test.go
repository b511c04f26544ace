package peer

import (
	"testing"

	"go.uber.org/goleak"
)

// ants starts two goroutines when it is imported, which never end.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }
