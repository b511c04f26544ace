package main

import (
	"errors"
	"hash/fnv"
	"math"
	"time"
)

// world is particles in a box from 0 to 1. What belongs together lies together.
type world struct{ x, y, vx, vy []float64 }

const dt = 0.01

func newWorld(n int) *world {
	w := &world{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	w.reset()
	return w
}

// reset puts each where it begins: the same place each time.
func (w *world) reset() {
	for i := range w.x {
		a := float64(i)
		w.x[i], w.y[i] = fraction(a*0.6180339887), fraction(a*0.7548776662)
		w.vx[i], w.vy[i] = math.Sin(a), math.Cos(a)
	}
}

func fraction(f float64) float64 { return f - math.Floor(f) }

// step moves the particles from one number up to another. They do not know of one another, so
// in what order, and on what thread, makes no difference.
func (w *world) step(from, to int) {
	move(w.x[from:to], w.vx[from:to])
	move(w.y[from:to], w.vy[from:to])
}

// move moves along one axis, and back from the walls.
func move(at, speed []float64) {
	speed = speed[:len(at)]
	for i := range at {
		p := at[i] + speed[i]*dt
		switch {
		case p < 0:
			p, speed[i] = -p, -speed[i]
		case p > 1:
			p, speed[i] = 2-p, -speed[i]
		}
		at[i] = p
	}
}

// moved is how many bytes so many steps read and write, about: speeds are seldom written.
func (w *world) moved(steps int) float64 {
	return float64(steps) * float64(len(w.x)) * (2*8 + 2*8 + 2*8)
}

// copied is how long it takes to copy as many bytes.
func (w *world) copied(steps int) (time.Duration, error) {
	n := len(w.x)
	from, to := make([]float64, 3*n), make([]float64, 3*n)
	for i := range from {
		from[i], to[i] = 1, 2 // so that the pages are there
	}
	began := time.Now()
	for range steps {
		copy(to, from)
	}
	took := time.Since(began)
	if to[3*n-1] != 1 {
		return 0, errors.New("copy does not copy")
	}
	return max(took, 1), nil
}

// sum is of all bits.
func (w *world) sum() uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, s := range [][]float64{w.x, w.y, w.vx, w.vy} {
		for _, f := range s {
			u := math.Float64bits(f)
			for i := range b {
				b[i] = byte(u >> (8 * i))
			}
			h.Write(b[:])
		}
	}
	return h.Sum64()
}
