package registry_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
)

// store is what is compared: it names resources, and lends each to one at a time.
type store interface {
	insert() handle.ID
	retire(handle.ID)
	use(context.Context, handle.ID, func())
}

// ours is the registry, used as the pool uses it.
type ours struct{ *registry.Registry[int] }

func (o ours) insert() handle.ID {
	e, _ := o.Insert(1)
	return e.ID
}

func (o ours) retire(id handle.ID) {
	if e, orphan := o.Retire(id); orphan {
		o.Disposed(e, nil)
	}
}

func (o ours) use(ctx context.Context, id handle.ID, f func()) {
	l, ok := o.Try(id)
	if !ok {
		l, _ = o.Acquire(ctx, id, &lanegate.Request{})
	}
	f()
	if l.Release() {
		o.Disposed(l.Entry, nil)
	}
}

// plain is what one would write by hand: a map and its mutex, and for each
// resource a channel that takes one. It has no bound, no order, and no end.
type plain struct {
	mu   sync.Mutex
	last uint32
	all  map[handle.ID]*plainEntry
}

type plainEntry struct {
	resource int
	lease    chan struct{}
}

func (p *plain) insert() handle.ID {
	e := &plainEntry{resource: 1, lease: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	id := handle.Make(1, 0, p.last)
	p.all[id] = e
	return id
}

func (p *plain) retire(id handle.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, id)
}

func (p *plain) use(ctx context.Context, id handle.ID, f func()) {
	p.mu.Lock()
	e := p.all[id]
	p.mu.Unlock()
	select {
	case e.lease <- struct{}{}:
	case <-ctx.Done():
		return
	}
	f()
	<-e.lease
}

// stores makes them anew.
var stores = []struct {
	name string
	make func() store
}{
	{"registry", func() store { return ours{registry.New[int](64, time.Millisecond)} }},
	{"registry strict", func() store { return ours{registry.New[int](64, strict)} }},
	{"map, mutex, channels", func() store { return &plain{all: map[handle.ID]*plainEntry{}} }},
}

func BenchmarkInsertAndRetire(b *testing.B) {
	for _, s := range stores {
		for _, others := range []int{0, 10_000} {
			b.Run(fmt.Sprintf("%s/others=%d", s.name, others), func(b *testing.B) {
				s := s.make()
				for range others {
					s.insert()
				}
				b.ReportAllocs()
				for b.Loop() {
					s.retire(s.insert())
				}
			})
		}
	}
}

func BenchmarkUse(b *testing.B) {
	for _, s := range stores {
		for _, users := range []int{1, 8} {
			for _, resources := range []int{1, 8} {
				if users == 1 && resources > 1 {
					continue
				}
				b.Run(fmt.Sprintf("%s/users=%d/resources=%d", s.name, users, resources), func(b *testing.B) {
					benchmarkUse(b, s.make(), users, resources)
				})
			}
		}
	}
}

// benchmarkUse shares b.N uses out among the users, each of whom stays with its
// resource.
func benchmarkUse(b *testing.B, s store, users, resources int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ids := make([]handle.ID, resources)
	for i := range ids {
		ids[i] = s.insert()
	}
	counts := make([]struct {
		n int
		_ [120]byte
	}, resources)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range users {
		wg.Go(func() {
			const batch = 100
			k := i % resources
			f := func() { counts[k].n++ }
			for left.Add(-batch) > -batch {
				for range batch {
					s.use(ctx, ids[k], f)
				}
			}
		})
	}
	wg.Wait()
}
