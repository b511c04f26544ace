package main

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"unsafe"
)

// particle is a point that flies through a box of side 1 and is thrown back by its walls.
type particle struct {
	at, speed [3]float64
}

// size is that of a particle, in bytes.
const size = int(unsafe.Sizeof(particle{}))

// scatter makes particles, the same each time.
func scatter(n int) []particle {
	numbers := rand.New(rand.NewPCG(1, 2))
	all := make([]particle, n)
	for i := range all {
		for axis := range 3 {
			all[i].at[axis] = numbers.Float64()
			all[i].speed[axis] = numbers.Float64() - 0.5
		}
	}
	return all
}

// move moves each particle by one step. What becomes of one depends on it alone.
func move(some []particle) {
	// A power of two: the product is exact, so that a processor that rounds it and the sum
	// in one gets the same as others.
	const step = 1.0 / 64
	for i := range some {
		p := &some[i]
		for axis := range 3 {
			p.at[axis] += p.speed[axis] * step
			if p.at[axis] < 0 || p.at[axis] > 1 {
				p.speed[axis] = -p.speed[axis]
			}
		}
	}
}

// sum tells whether two sets of particles are the same to the last bit.
func sum(all []particle) uint64 {
	h := fnv.New64a()
	var b [size]byte
	for i := range all {
		p := &all[i]
		for axis := range 3 {
			binary.LittleEndian.PutUint64(b[16*axis:], math.Float64bits(p.at[axis]))
			binary.LittleEndian.PutUint64(b[16*axis+8:], math.Float64bits(p.speed[axis]))
		}
		_, _ = h.Write(b[:]) // never fails
	}
	return h.Sum64()
}
