//go:build linux || darwin

package cost

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAProcessThatRunsHasCostSomething(t *testing.T) {
	if c := Now(); c.Processor <= 0 || c.Memory <= 0 {
		t.Error(c)
	}
}
