package shape

import (
	"context"
	"errors"

	"github.com/iolane/iolane/bench/peers/internal/peer"
)

// admission is what it costs to be turned away, to wait, and to leave.
func admission() []Shape {
	const group = "admission"
	return []Shape{
		{
			Name: "refuse", Group: group, About: "every slot is taken: the call is refused",
			Slots: 2, Callers: 1, Others: 2, Needs: peer.Calls | peer.Tries, Bounded: true, Refuse: true,
			run: func(r *run) error {
				release := hold(r.p, r.shape.Slots)
				err := r.loop(r.refused(context.Background(), nothing))
				return errors.Join(err, release())
			},
		},
		{
			Name: "drain-256", Group: group, About: "256 callers queued behind held slots; from the release until all are served",
			Slots: 4, Callers: 256, Others: 4, Needs: peer.Calls, Bounded: true,
			run: func(r *run) error { return r.episodes(r.drain) },
		},
		{
			Name: "cancel-queued", Group: group, About: "one call: queue, cancel, return",
			Slots: 2, Callers: 1, Others: 2, Needs: peer.Calls | peer.Cancels, Bounded: true,
			run: func(r *run) error {
				release := hold(r.p, r.shape.Slots)
				err := r.loop(r.stepping(r.cancelled))
				return errors.Join(err, release())
			},
		},
		{
			Name: "cancel-storm", Group: group, About: "256 queued callers share a context that is cancelled; until all have returned",
			Slots: 4, Callers: 256, Others: 4, Needs: peer.Calls | peer.Cancels, Bounded: true,
			run: func(r *run) error { return r.episodes(r.storm) },
		},
		{
			Name: "shutdown-256", Group: group, About: "close with 256 callers queued, until all are served or refused and it has returned",
			Slots: 4, Callers: 256, Others: 4, Needs: peer.Calls | peer.Drains, Bounded: true, Own: true,
			run: func(r *run) error { return r.episodes(r.shutdown) },
		},
	}
}

func (r *run) drain() error {
	release := hold(r.p, r.shape.Slots)
	w, err := r.queue(context.Background(), r.p, r.few(r.shape.Callers, 16))
	w.start(&r.m)
	err = errors.Join(err, release())
	w.stop(&r.m)
	return errors.Join(append(w.errs, err)...)
}

func (r *run) cancelled() error {
	ctx, cancel := context.WithCancel(context.Background())
	go cancel() // runs when the caller has parked, in general
	if _, err := r.p.Call(ctx, nothing); err == nil {
		return unexpected(err)
	}
	return nil
}

func (r *run) storm() error {
	release := hold(r.p, r.shape.Slots)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := r.queue(ctx, r.p, r.few(r.shape.Callers, 16))
	w.start(&r.m)
	cancel()
	w.stop(&r.m)
	if w.failed() != len(w.errs) {
		err = errors.Join(err, unexpected(nil))
	}
	return errors.Join(err, release())
}

func (r *run) shutdown() error {
	p, err := r.mk.New(r.shape.config())
	if err != nil {
		return err
	}
	release := hold(p, r.shape.Slots)
	w, err := r.queue(context.Background(), p, r.few(r.shape.Callers, 16))
	if err != nil {
		return err
	}
	w.start(&r.m)
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	err = release()
	w.stop(&r.m)
	r.m.refuse += w.failed()
	return errors.Join(err, <-closed)
}
