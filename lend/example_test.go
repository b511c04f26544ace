package lend_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

// Conn stands for a connection to a server.
type Conn struct{ queries int }

func dial(context.Context) (*Conn, error) { return new(Conn), nil }

func (c *Conn) Query(context.Context, string) (int, error) { c.queries++; return c.queries, nil }

func (c *Conn) Ping(context.Context) error { return nil }

func (c *Conn) Close() error { return nil }

// At most eight connections, opened when they are needed.
func Example() {
	conns, err := pool.New(pool.Config[*Conn]{
		Threads: lane.Config{Workers: 8}, // as many calls at a time
		Dispose: (*Conn).Close,
	})
	if err != nil {
		panic(err)
	}
	defer conns.Close()
	server, err := lend.New(conns, lend.Config[*Conn]{
		Open:       dial,
		Capacity:   8,
		Check:      func(ctx context.Context, c *Conn) error { return c.Ping(ctx) },
		CheckAfter: time.Second,
		Broken:     func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) },
		IdleTime:   5 * time.Minute,
		Lifetime:   time.Hour,
	})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	for range 3 {
		rows, err := lend.Transact(context.Background(), server, func(ctx context.Context, c *Conn) (int, error) {
			return c.Query(ctx, "SELECT 1")
		})
		fmt.Println(rows, err)
	}
	s := server.Stats()
	fmt.Println(s.Open, "open,", s.LentTotal, "times lent")
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 3 <nil>
	// 1 open, 3 times lent
}

// Several calls with the same connection, as a transaction of a database takes.
func ExampleLender_Borrow() {
	conns, _ := pool.New(pool.Config[*Conn]{Dispose: (*Conn).Close})
	defer conns.Close()
	server, _ := lend.New(conns, lend.Config[*Conn]{Open: dial, Capacity: 8})
	defer server.Close()

	ctx := context.Background()
	loan, err := server.Borrow(ctx)
	if err != nil {
		panic(err)
	}
	for _, query := range []string{"BEGIN", "UPDATE …", "COMMIT"} {
		n, err := lend.Use(ctx, loan, func(ctx context.Context, c *Conn) (int, error) { return c.Query(ctx, query) })
		fmt.Println(n, err)
	}
	fmt.Println(loan.Return())
	fmt.Println(loan.Return())
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 3 <nil>
	// <nil>
	// handle: the loan is returned
}

// Two connections for each host.
func ExampleByKey() {
	conns, _ := pool.New(pool.Config[*Conn]{Dispose: (*Conn).Close})
	defer conns.Close()
	dialHost := func(ctx context.Context, host string) (*Conn, error) { return dial(ctx) }
	hosts, err := lend.ByKey(conns, dialHost, lend.Config[*Conn]{Capacity: 2, IdleTime: time.Minute})
	if err != nil {
		panic(err)
	}
	defer hosts.Close()

	for _, host := range []string{"a.example", "b.example", "a.example"} {
		server, err := hosts.For(host)
		if err != nil {
			panic(err)
		}
		n, err := lend.Transact(context.Background(), server, func(ctx context.Context, c *Conn) (int, error) { return c.Query(ctx, "SELECT 1") })
		fmt.Println(host, n, err)
	}
	// Output:
	// a.example 1 <nil>
	// b.example 1 <nil>
	// a.example 2 <nil>
}
