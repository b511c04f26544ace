package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// The first mirror that answers; the others are called off.
func ExampleFirst() {
	p, _ := pool.New(pool.Config[struct{}]{Threads: lane.Config{Workers: 3}}) // all of them at a time
	defer p.Close()

	mirror := func(name string, takes time.Duration, err error) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			if e := pool.Sleep(ctx, takes); e != nil {
				return "", e
			}
			return name, err
		}
	}
	answer, err := pool.First(context.Background(), p, []func(context.Context) (string, error){
		mirror("broken", 0, errors.New("no route")),
		mirror("slow", time.Hour, nil),
		mirror("quick", time.Millisecond, nil),
	})
	fmt.Println(answer, err)
	// Output:
	// quick <nil>
}

// Calls side by side, of which there may be any number, in room for four.
func ExampleNewBatch() {
	p, _ := pool.New(pool.Config[struct{}]{})
	defer p.Close()

	ctx := context.Background()
	b, err := pool.NewBatch[int](ctx, p, 4)
	if err != nil {
		panic(err)
	}
	defer b.Cancel()

	sum := 0
	takeOne := func() (some bool) {
		n, err := b.Await(ctx, 1)
		if err != nil || n == 0 {
			return false
		}
		r, _ := b.Next()
		sum += r.Value
		return true
	}
	for n := range 10 {
		square := func(context.Context) (int, error) { return n * n, nil }
		_, err := b.Add(square)
		for errors.Is(err, ioerr.ErrBatchFull) && takeOne() {
			_, err = b.Add(square)
		}
		if err != nil {
			panic(err)
		}
	}
	for takeOne() {
	}
	fmt.Println(sum)
	// Output:
	// 285
}

// Many calls on one resource, in one transaction.
func ExampleNewBatchOn() {
	type account struct{ balance int }
	p, _ := pool.New(pool.Config[*account]{})
	defer p.Close()
	id, err := p.Adopt(&account{balance: 100})
	if err != nil {
		panic(err)
	}

	b, err := pool.NewBatchOn[int](p, id, 8)
	if err != nil {
		panic(err)
	}
	for _, amount := range []int{30, 50, 40} {
		if _, err := b.Add(func(_ context.Context, a *account) (int, error) {
			if amount > a.balance {
				return 0, errors.New("too much")
			}
			a.balance -= amount
			return a.balance, nil
		}); err != nil {
			panic(err)
		}
	}
	if _, err := b.Run(context.Background()); err != nil {
		panic(err)
	}
	for r, ok := b.Next(); ok; r, ok = b.Next() {
		fmt.Println(r.Value, r.Err)
	}
	// Output:
	// 70 <nil>
	// 20 <nil>
	// 0 too much
}
