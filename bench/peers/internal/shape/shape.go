// Package shape holds the workloads. Each is a program of its own for one peer: it
// makes calls in a certain pattern and says what they cost.
package shape

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/result"
)

// A Shape is one workload.
type Shape struct {
	Name  string
	Group string
	About string

	Slots     int
	Callers   int           // that make calls at once, as far as they are measured
	Others    int           // callers beside them: who hold slots, or make the calls that are not measured
	Resources int           // to transact on
	Work      time.Duration // processor time of a call, if that is what it is about

	Needs   peer.Set // what a peer must be able to do
	Bounded bool     // makes no sense without a bound
	Refuse  bool     // the peer is made to refuse

	// Stamped says that calls are long enough to read the clock at each one.
	// Otherwise times and percentiles come from separate runs.
	Stamped bool

	// Once says that one episode is enough, as it takes long.
	Once bool

	// Own says that run makes peers itself.
	Own bool

	run func(*run) error
}

// All returns every shape, in the order of tables.
func All() []Shape {
	var all []Shape
	for _, group := range [][]Shape{
		dispatch(), crowd(), admission(), processor(), blocking(), mixed(), transactions(), lifecycle(), threads(),
	} {
		all = append(all, group...)
	}
	return all
}

// Fits reports whether a peer is measured at the shape.
func (s Shape) Fits(mk peer.Maker) bool {
	return mk.Does.Has(s.Needs) && (mk.Bounded || !s.Bounded)
}

// Ideal is the time of a call if the work alone took any, on so many processors;
// zero if there is no saying.
func (s Shape) Ideal(procs int) time.Duration {
	return s.Work / time.Duration(min(s.Slots, s.Callers, procs))
}

// An Env says how to measure.
type Env struct {
	Budget time.Duration // how long each part of a measurement takes, about
	Steps  float64       // of spin, for a microsecond; see Calibrate
	Dir    string        // for files; empty: the system's folder for such
	Tiny   bool          // as little as possible: to see that it works
}

// Measure makes a peer and runs the shape on it.
func (s Shape) Measure(env Env, mk peer.Maker) (result.Sample, error) {
	r := &run{env: env, shape: s, mk: mk}
	fail := func(err error) (result.Sample, error) {
		return result.Sample{}, fmt.Errorf("%s, %s: %w", s.Name, mk.Name, err)
	}
	if !s.Own {
		p, err := mk.New(s.config())
		if err != nil {
			return fail(err)
		}
		r.p = p
	}
	err := s.run(r)
	sample := r.m.sample()
	sample.Shape, sample.Peer = s.Name, mk.Name
	if r.dir != "" {
		if rmErr := os.RemoveAll(r.dir); err == nil {
			err = rmErr
		}
	}
	if r.p != nil && err == nil { // else calls may still be in progress
		err = r.p.Close()
	}
	if err != nil {
		return fail(err)
	}
	return sample, nil
}

func (s Shape) config() peer.Config {
	return peer.Config{Slots: s.Slots, Callers: s.Callers + s.Others, Resources: s.Resources, Refuse: s.Refuse}
}

// run is one measurement under way.
type run struct {
	env   Env
	shape Shape
	mk    peer.Maker
	p     peer.Peer
	m     meter
	dir   string // made on demand
}

// steps is how many steps of spin take d.
func (r *run) steps(d time.Duration) int {
	return int(r.env.Steps * float64(d) / float64(time.Microsecond))
}

// few is n, or a little if everything is to be tiny.
func (r *run) few(n, little int) int {
	if r.env.Tiny {
		return min(n, little)
	}
	return n
}

// tempDir is a folder for this measurement alone.
func (r *run) tempDir() (string, error) {
	if r.dir != "" {
		return r.dir, nil
	}
	var err error
	r.dir, err = os.MkdirTemp(r.env.Dir, "peers-")
	return r.dir, err
}

func procs() int { return runtime.GOMAXPROCS(0) }
