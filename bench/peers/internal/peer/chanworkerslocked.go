package peer

import "runtime"

func chanWorkersLockedMaker() Maker {
	return Maker{
		Name: "chan-workers-locked", About: "chan-workers-pooled, each worker locked to a thread", Kind: HandOff, Bounded: true,
		Does: Calls,
		New: func(c Config) (Peer, error) {
			p := new(chanWorkersPooled)
			p.queue = make(chan *task, c.Slots*perSlot)
			for range c.Slots {
				p.wg.Go(func() {
					runtime.LockOSThread() // never unlocked: the thread ends with its worker
					for t := range p.queue {
						t.run()
					}
				})
			}
			return p, nil
		},
	}
}
