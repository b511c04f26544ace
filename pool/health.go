package pool

import (
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// HealthRules say when a resource is not to be used for a while. They judge by service
// time, from the beginning of a call's function to its end: a call that waited for long
// says nothing about the resource.
//
// A call that was slow or failed makes its handle Suspect; Down such calls in a row, or
// one that is stuck, take it Down: calls, and those that wait, are refused with an
// *ioerr.UnfitError (ErrHandleDown) that gives the cause and the age. From time to time
// it is then Probing: Config.Check is called on the lane; if it succeeds, and is not
// slow, the handle is Healthy again. Without Check the handle is let back as Suspect, and
// the next call is the probe: one that is bad takes it down again.
//
// The zero HealthRules judge nobody.
type HealthRules struct {
	// Slow is how long a call may take. Zero: as long as it likes.
	Slow time.Duration

	// Bad says which errors of calls speak against the resource. Let it name those that
	// do: context errors, "no such file" and what a nested call was refused with do not.
	// It is not asked about calls that Config.Interrupt has interrupted. It is called
	// while the resource is held. Nil: none does. A call that panicked is bad in any case.
	Bad func(error) bool

	// Stuck is how long a call may run until it counts as stuck: then the handle is Down,
	// and others are refused with an *ioerr.StuckError, as when its caller has left it.
	// When it ends the resource is probed at once. Zero: only calls that were left are
	// stuck.
	Stuck time.Duration

	// Down is how many bad calls in a row take a handle down. Zero means 3.
	Down int

	// Probe is the time from one probe to the next, on average: each is jittered by up to
	// a half of it, so that resources that failed together are not probed together. Zero
	// means 1 s.
	Probe time.Duration
}

// Health is the state of a handle.
type Health uint8

// The states. All but Poisoned need Config.Health.
const (
	Healthy  Health = iota // nothing is known against it
	Suspect                // the last call was bad
	Down                   // not used until a probe succeeds
	Probing                // Down, and a probe is under way
	Poisoned               // not used until it is replaced; see Poison
)

// String returns the state in lower case.
func (h Health) String() string {
	switch h {
	case Healthy:
		return "healthy"
	case Suspect:
		return "suspect"
	case Down:
		return "down"
	case Probing:
		return "probing"
	case Poisoned:
		return "poisoned"
	}
	return "unknown"
}

const (
	defaultDown  = 3
	defaultProbe = time.Second
)

// on reports whether anybody is judged.
func (r *HealthRules) on() bool { return r.Slow > 0 || r.Bad != nil || r.Stuck > 0 || r.Down > 0 }

// complete checks the rules and fills in the defaults.
func (r HealthRules) complete() (HealthRules, error) {
	bad := func(field string, value any) (HealthRules, error) {
		return r, &ioerr.ArgumentError{Name: "pool.Config.Health." + field, Value: value, Reason: "must not be negative"}
	}
	switch {
	case r.Slow < 0:
		return bad("Slow", r.Slow)
	case r.Stuck < 0:
		return bad("Stuck", r.Stuck)
	case r.Down < 0:
		return bad("Down", r.Down)
	case r.Probe < 0:
		return bad("Probe", r.Probe)
	}
	if !r.on() {
		if r.Probe > 0 {
			return r, &ioerr.ArgumentError{Name: "pool.Config.Health.Probe", Value: r.Probe, Reason: "there is no rule that takes a handle down"}
		}
		return r, nil
	}
	if r.Down == 0 {
		r.Down = defaultDown
	}
	if r.Probe == 0 {
		r.Probe = defaultProbe
	}
	return r, nil
}

// verdict is what one call has to say about its resource. It is kept in the resource's
// site, by the holder of the lease, until that is given back.
type verdict struct {
	told   bool // there is something of the following
	given  bool // the call ran
	bad    bool // Bad says so of err
	left   bool // its caller has left it
	barred bool // others were refused because of it
	broken bool // it was interrupted
	took   time.Duration
	waited time.Duration // for the end of Interrupt
	err    error         // of the call itself
	poison error         // see Poison; counts by itself
}

// verdict is what speaks against the resource, or nil.
func (r *HealthRules) verdict(v *verdict) error {
	switch {
	case v.left:
		return &ioerr.LeftError{Age: v.took, Cause: v.err}
	case v.barred && v.took >= r.Stuck:
		return &ioerr.SlowError{Took: v.took, Limit: r.Stuck}
	case v.bad:
		return v.err
	case r.Slow > 0 && v.took > r.Slow:
		return &ioerr.SlowError{Took: v.took, Limit: r.Slow}
	}
	return nil
}

// judge asks Bad about the error of a call, on the goroutine of the call and as a part of
// it. If it panics or ends the goroutine that speaks against the resource, too.
func (c *core) judge(id handle.ID, err error) (bad bool) {
	if c.rules.Bad == nil {
		return false
	}
	bad = true
	callHook("bad", id, func() error { bad = c.rules.Bad(err); return nil }, func(err error) {
		if err != nil {
			c.hookFailed(err)
		}
	})
	return bad
}

// Health returns the state of a handle: Healthy, if the pool does not know better, also
// of one that it does not know at all.
func (p *Pool[R]) Health(id handle.ID) Health {
	if p == nil || p.state.Load() == stateNone {
		return Healthy
	}
	return p.ward.health(id)
}

// Poison returns an error for the function of a call to return whose resource must not
// be used any more: after a failed fsync, say, which must not be tried again into a
// success. From then on calls on the handle are refused with an *ioerr.UnfitError
// (ErrPoisoned) that has err as its cause, until [Pool.Replace] or [Pool.Destroy]; with
// Config.Share other calls that use it run to their end, and only Destroy helps. The
// caller gets err, wrapped so that it matches ErrPoisoned, too. Poison(nil) is nil. In
// calls without a handle it has no effect.
func Poison(err error) error {
	if err == nil {
		return nil
	}
	return &poison{err}
}

type poison struct{ err error }

// poisonIn finds the mark of Poison in an error. It does not look into the errors of
// other calls, whose resource is another one; and methods of the user's errors may panic.
func poisonIn(err error) (p *poison) {
	defer func() { _ = recover() }()
	for err != nil {
		switch e := err.(type) { //nolint:errorlint // see above
		case *poison:
			return e
		case *ioerr.Error:
			return nil
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, err := range e.Unwrap() {
				if p = poisonIn(err); p != nil {
					return p
				}
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// Error is that of err.
func (p *poison) Error() string { return p.err.Error() }

// Unwrap returns err.
func (p *poison) Unwrap() error { return p.err }

// Is matches ErrPoisoned.
func (p *poison) Is(target error) bool { return target == ioerr.ErrPoisoned }
