package lane

import "github.com/iolane/iolane/internal/lanegate"

// Inline runs every call at once, without a bound. (More precisely: up to half a
// million at a time; beyond that they queue.) It keeps the rest of a lane's laws:
// statistics, shutdown, dead contexts.
type Inline struct{ gated }

// Gate is the lane's gate, for package pool; see [Threads.Gate].
func (l *Inline) Gate() *lanegate.Gate { return l.gate() }

// NewInline makes an Inline lane. The name may be empty.
func NewInline(name string) *Inline {
	l := new(Inline)
	l.init(Config{
		Name:     name,
		Workers:  lanegate.MaxSlots,
		Queue:    defaultQueue,
		Waiters:  4 * defaultQueue,
		Policy:   Wait,
		Patience: defaultPatience,
	}, 0, 1, false)
	return l
}
