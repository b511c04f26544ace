package shape

import (
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// processor is calls that come all at once and use the processor: what there is to
// gain is little, and what there is to lose is shown by the floor.
func processor() []Shape {
	burst := func(name, about string, callers int, work time.Duration) Shape {
		return Shape{
			Name: name, Group: "processor", About: about, Slots: 4, Callers: callers, Work: work,
			Needs: peer.Calls, Stamped: true,
			run: func(r *run) error { return r.burst(r.few(callers, 16), r.work()) },
		}
	}
	const us = time.Microsecond
	return []Shape{
		burst("conc-10us", "1000 calls of 10 us over 4 slots", 1000, 10*us),
		burst("contend-10", "40 calls of 100 us over 4 slots", 40, 100*us),
		burst("contend-100", "400 calls of 50 us over 4 slots", 400, 50*us),
		burst("contend-1000", "4000 calls of 10 us over 4 slots", 4000, 10*us),
	}
}
