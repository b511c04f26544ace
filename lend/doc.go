// Package lend lends resources that are as good as one another: connections to one server,
// say. A [Lender] opens them when they are needed, keeps those that nobody uses, and has
// callers wait in line while all of them are lent.
//
// The resources belong to a pool.Pool, whose lane opens, uses and closes them; all that this
// pool does for its resources it does for these: one user at a time, health, poison,
// interruption, a shutdown that tells what it waits for.
//
//	conns, err := pool.New(pool.Config[*Conn]{
//		Threads: lane.Config{Workers: 8}, // as many as there may be connections: then nobody waits twice
//		Dispose: (*Conn).Close,
//	})
//	...
//	servers, err := lend.New(conns, lend.Config[*Conn]{Open: dial, Capacity: 8, Broken: isNetworkError})
//	...
//	rows, err := lend.Transact(ctx, servers, func(ctx context.Context, c *Conn) (Rows, error) {
//		return c.Query(ctx, query)
//	})
//
// # Rights
//
// Whoever uses, opens or closes a resource has a right to it, of which there are Capacity. So
// there are never more resources than that, those that are being opened or closed included.
// Rights are given in the order in which they were asked for; newcomers may overtake for as
// long as Config.Patience allows, so that no resource lies idle while its next user wakes up.
//
// A caller has a right first, then a resource, then a place in the lane. So whoever waits for
// a resource takes up no place there. A call from inside another one on the pool's lane does
// not wait for a right, nor until a resource that is not fit for use is closed (ErrReentry): it
// might wait for itself.
//
// # Resources
//
// The one that was used last is lent next: so those that are not needed become old and are
// closed ([Config.IdleTime], [Config.Lifetime]). If none is idle the caller has one opened. That goes
// on when he gives up, and what was opened is there for the next; if it fails, he gets the
// error and the next one tries. A resource is closed, and not lent again, after a call that
// panicked, ended its goroutine, was left running, returned [pool.Poison], or an error that
// Config.Broken takes for its end. A call that leaves its resource in a state that the next one
// must not see, because its context has ended in the middle of an answer, say, has to poison
// it.
//
// A connection of package net holds no thread while it waits. Its calls are on a lane all the
// same, which bounds them; lane.Config.Threadless takes such a lane out of the budget of
// threads.
package lend
