package peer

import (
	"context"
	"errors"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// shared is a pool on a lane that belongs to nobody, beside another pool on it.
type shared struct {
	*iolane
	other *pool.Pool[*Resource]
	lane  lane.Lane
}

func sharedMaker() Maker {
	m := ourMaker("iolane-shared", "a Threads lane that two pools share", nil)
	m.New = func(c Config) (Peer, error) {
		l, err := lane.NewThreads(laneConfig(c))
		if err != nil {
			return nil, err
		}
		pc := pool.Config[*Resource]{Lane: l}
		other, err := pool.New(pc)
		if err != nil {
			return nil, err
		}
		p, err := newIolane(c, pc)
		return &shared{p, other, l}, err
	}
	return m
}

// Close implements [Peer].
func (p *shared) Close() error {
	return errors.Join(p.iolane.Close(), p.other.Close(), p.lane.Shutdown(context.Background()))
}
