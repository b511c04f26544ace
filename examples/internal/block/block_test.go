package block

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestABlockedCallTakesItsTime(t *testing.T) {
	began := time.Now()
	if err := For(3 * time.Millisecond); err != nil || time.Since(began) < 3*time.Millisecond {
		t.Error(err, time.Since(began))
	}
}
