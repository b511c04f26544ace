package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/jackc/puddle/v2"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

// conn is what is lent. Opening it costs nothing: what is measured is the lending.
type conn struct{ uses int }

// lender is one of those that are compared.
type lender interface {
	// with borrows a conn, has work done with it, and gives it back.
	with(ctx context.Context, work func(context.Context, *conn) error) error
	close() error
}

// makers are those that are compared, by name; the first is ours.
func makers(patience time.Duration) []maker {
	return []maker{
		{"iolane", func(size int) (lender, error) { return newOurs(size, patience) }},
		{"puddle", newPuddle},
		{"sql", newSQL},
	}
}

type maker struct {
	name string
	make func(size int) (lender, error)
}

type ours struct {
	pool   *pool.Pool[*conn]
	lender *lend.Lender[*conn]
}

func newOurs(size int, patience time.Duration) (lender, error) {
	p, err := pool.New(pool.Config[*conn]{Threads: lane.Config{Workers: size}})
	if err != nil {
		return nil, err
	}
	l, err := lend.New(p, lend.Config[*conn]{
		Open:     func(context.Context) (*conn, error) { return new(conn), nil },
		Capacity: size,
		Waiters:  1 << 20,
		Patience: patience,
	})
	return &ours{p, l}, err
}

func (o *ours) with(ctx context.Context, work func(context.Context, *conn) error) error {
	return o.lender.With(ctx, work)
}

func (o *ours) close() error { return errors.Join(o.lender.Close(), o.pool.Close()) }

type puddles struct{ pool *puddle.Pool[*conn] }

func newPuddle(size int) (lender, error) {
	p, err := puddle.NewPool(&puddle.Config[*conn]{
		Constructor: func(context.Context) (*conn, error) { return new(conn), nil },
		Destructor:  func(*conn) {},
		MaxSize:     int32(size),
	})
	return &puddles{p}, err
}

func (p *puddles) with(ctx context.Context, work func(context.Context, *conn) error) error {
	r, err := p.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer r.Release()
	return work(ctx, r.Value())
}

func (p *puddles) close() error {
	p.pool.Close()
	return nil
}

// sqls is database/sql: the connection is its own.
type sqls struct{ db *sql.DB }

func newSQL(size int) (lender, error) {
	db := sql.OpenDB(connector{})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return &sqls{db}, nil
}

func (s *sqls) with(ctx context.Context, work func(context.Context, *conn) error) error {
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	err = c.Raw(func(dc any) error { return work(ctx, dc.(*sqlConn).conn) }) //nolint:errcheck // it is its own
	return errors.Join(err, c.Close())
}

func (s *sqls) close() error { return s.db.Close() }

type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) { return &sqlConn{new(conn)}, nil }
func (connector) Driver() driver.Driver                        { return nil }

type sqlConn struct{ conn *conn }

func (*sqlConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (*sqlConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (*sqlConn) Close() error                        { return nil }
