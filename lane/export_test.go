package lane

import "github.com/iolane/iolane/internal/ringdriver"

// TryOperation is Try for operations of a Ring.
func (l *Ring) TryOperation() (Slot, bool) { return l.operations.Try() }

// WithDriver returns the config with what tests want of the drivers.
func (c RingConfig) WithDriver(d ringdriver.Config) RingConfig {
	c.driver = d
	return c
}

// LeaveOperation is Leave for what TryOperation has got.
func (l *Ring) LeaveOperation(s Slot) { l.operations.Leave(s) }
