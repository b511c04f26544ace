package lanegate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// choices are the decisions of a random test. They are read from bytes, so that a
// fuzzer can make them; a test prints the seed of those it makes itself.
type choices struct{ left []byte }

// pick chooses one of n. When the bytes are used up it is always the first.
func (c *choices) pick(n int) int {
	if len(c.left) == 0 {
		return 0
	}
	b := c.left[0]
	c.left = c.left[1:]
	return int(b) % n
}

func (c *choices) chance(oneIn int) bool { return c.pick(oneIn) == oneIn-1 }

// config chooses a gate.
func (c *choices) config() Config {
	slots := 1 + c.pick(4)
	return Config{
		Slots:    slots,
		Reserved: c.pick(slots),
		Queue:    c.pick(4),
		Waiters:  c.pick(4),
		LIFO:     c.chance(4),
		Patience: []time.Duration{strict, patient, 2 * ms, 0}[c.pick(4)],
	}
}

var seedFlag = flag.Uint64("seed", 0, "run the random tests with this seed only")

// seeds runs a random test in bubbles with new seeds, or with the one given by
// -seed. Each bubble gets so many choices.
func seeds(t *testing.T, runs, length int, test func(*testing.T, *choices)) {
	if testing.Short() {
		runs /= 10
	}
	one := func(seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, &choices{data}) })
		})
	}
	if *seedFlag != 0 {
		one(*seedFlag)
		return
	}
	for range runs {
		if one(rand.Uint64()); t.Failed() {
			return
		}
	}
}
