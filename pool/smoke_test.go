package pool_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func TestSmoke(t *testing.T) {
	shared, _ := lane.NewThreads(lane.Config{Workers: 2, Name: "shared"})
	for name, cfg := range map[string]pool.Config[*os.File]{"own": {Threads: lane.Config{Workers: 2}}, "shared": {Lane: shared}} {
		t.Run(name, func(t *testing.T) {
			cfg.Dispose = (*os.File).Close
			p, err := pool.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			v, err := pool.Run(ctx, p, func(ctx context.Context) (int, error) { return 42, nil })
			t.Log(v, err)
			id, err := p.Register(ctx, func(context.Context) (*os.File, error) { return os.Open("/etc/passwd") })
			t.Log(id, err)
			n, err := pool.Transact(ctx, p, id, func(ctx context.Context, f *os.File) (int, error) {
				if err := p.With(ctx, id, func(context.Context, *os.File) error { return nil }); !errors.Is(err, ioerr.ErrReentry) {
					t.Error(err)
				}
				if err := p.Close(); !errors.Is(err, ioerr.ErrReentry) {
					t.Error(err)
				}
				return f.Read(make([]byte, 10))
			}, pool.Label("read"))
			t.Log(n, err)
			err = p.Do(ctx, func(context.Context) error { panic("x") })
			t.Log(err)
			err = p.Do(ctx, nil)
			t.Log(err)
			t.Log(p.Destroy(ctx, id))
			p.Register(ctx, func(context.Context) (*os.File, error) { return os.Open("/etc/passwd") })
			gate := make(chan int)
			in := make(chan int)
			go p.Do(ctx, func(context.Context) error { close(in); <-gate; return nil }, pool.Label("stuck"))
			<-in
			c2, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
			t.Log(p.Shutdown(c2))
			close(gate)
			t.Log(p.Close())
			t.Logf("%+v", p.Stats())
		})
	}
}

func bench(b *testing.B, p *pool.Pool[int]) {
	x := 0
	bg := context.Background()
	cc, cancel := context.WithCancel(bg)
	defer cancel()
	b.Run("bg", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pool.Run(bg, p, func(context.Context) (int, error) { x++; return x, nil })
		}
	})
	b.Run("ctx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pool.Run(cc, p, func(context.Context) (int, error) { x++; return x, nil })
		}
	})
	b.Run("label", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pool.Run(bg, p, func(context.Context) (int, error) { x++; return x, nil }, pool.Label("x"))
		}
	})
	b.Run("failfast", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pool.Run(bg, p, func(context.Context) (int, error) { x++; return x, nil }, pool.FailFast)
		}
	})
	id, _ := p.Adopt(1)
	b.Run("tx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pool.Transact(bg, p, id, func(context.Context, int) (int, error) { x++; return x, nil })
		}
	})
	err := errors.New("x")
	b.Run("failure", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pool.Run(bg, p, func(context.Context) (int, error) { return 0, err })
		}
	})
}

func BenchmarkOwn(b *testing.B) {
	p, _ := pool.New(pool.Config[int]{})
	defer p.Close()
	bench(b, p)
}
func BenchmarkShared(b *testing.B) {
	p, _ := pool.New(pool.Config[int]{Lane: lane.NewInline("")})
	defer p.Close()
	bench(b, p)
}
func BenchmarkChan(b *testing.B) {
	c := make(chan struct{}, 4)
	for b.Loop() {
		c <- struct{}{}
		<-c
	}
}
