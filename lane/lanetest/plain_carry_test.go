package lanetest

import (
	"context"

	"github.com/iolane/iolane/lane"
)

// plainCarrier is plain with a goroutine for each call that comes by Carry.
type plainCarrier struct{ *plain }

func newPlainCarrier(c lane.Config, fault string) plainCarrier {
	return plainCarrier{newPlain(c, fault)}
}

func (l plainCarrier) Carry(ctx context.Context, c lane.Call, t lane.Task) error {
	started, err := l.Start(ctx, c, t)
	if err != nil {
		return err
	}
	return started.Wait()
}

func (l plainCarrier) Start(ctx context.Context, c lane.Call, t lane.Task) (lane.Started, error) {
	s, err := l.Enter(ctx, c)
	if err != nil {
		if l.is("a refused task is ended") {
			t.End(false, nil)
		}
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		returned := false
		defer close(done)
		defer func() {
			if l.is("a task is ended in its slot") {
				t.End(false, nil)
			}
			if returned || !l.is("a task that ends its goroutine keeps its slot") {
				l.Leave(s)
			}
			if !l.is("a task is ended in its slot") {
				t.End(false, nil)
			}
		}()
		t.Run(lane.Thread{})
		returned = true
	}()
	if l.is("Start waits for its task") {
		<-done
	}
	return plainStarted(done), nil
}

// plainStarted is closed when the task has ended.
type plainStarted chan struct{}

func (s plainStarted) Wait() error {
	<-s
	return nil
}

func (l plainCarrier) GiveUp(uint64, error) {}
