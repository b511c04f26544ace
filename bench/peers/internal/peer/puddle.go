package peer

import (
	"context"
	"errors"

	"github.com/jackc/puddle/v2"
)

// puddlePool is jackc/puddle. For plain calls a slot is a resource of one pool.
// Transactions name their resource, and puddle lends any that is idle: so each
// resource is a pool of its own, with one place. There is no bound over all of
// them, which is to puddle's advantage wherever resources outnumber slots.
type puddlePool struct {
	slots     *puddle.Pool[*Resource]
	resources []*puddle.Pool[*Resource]
}

func puddleMaker() Maker {
	return Maker{
		Name: "puddle", About: "jackc/puddle v2; transactions: one pool for each resource", Kind: Inline, Bounded: true,
		Does: Calls | Cancels | Tries | Transacts | Churns | Drains, Full: puddle.ErrNotAvailable,
		New: newPuddle,
	}
}

func newPuddle(c Config) (Peer, error) {
	var p puddlePool
	var err error
	if p.slots, err = puddleOf(c.Slots); err != nil {
		return nil, err
	}
	if c.Refuse { // TryAcquire takes what is there, and makes new ones only for later
		for range c.Slots {
			err = errors.Join(err, p.slots.CreateResource(context.Background()))
		}
	}
	for range c.Resources {
		one, oneErr := puddleOf(1)
		p.resources = append(p.resources, one)
		err = errors.Join(err, oneErr)
	}
	return &p, err
}

func puddleOf(n int) (*puddle.Pool[*Resource], error) {
	return puddle.NewPool(&puddle.Config[*Resource]{
		Constructor: func(context.Context) (*Resource, error) { return new(Resource), nil },
		Destructor:  func(*Resource) {},
		MaxSize:     int32(n),
	})
}

// Call implements [Peer].
func (p *puddlePool) Call(ctx context.Context, fn Func) (int, error) {
	res, err := p.slots.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer res.Release()
	return fn(ctx)
}

// CallArg implements [Peer].
func (p *puddlePool) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall implements [Trier].
func (p *puddlePool) TryCall(ctx context.Context, fn Func) (int, error) {
	res, err := p.slots.TryAcquire(ctx)
	if err != nil {
		return 0, err
	}
	defer res.Release()
	return fn(ctx)
}

// Transact implements [Transactor].
func (p *puddlePool) Transact(ctx context.Context, i int, fn TxFunc) (int, error) {
	res, err := p.resources[i].Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer res.Release()
	return fn(ctx, res.Value())
}

// Churn implements [Churner].
func (p *puddlePool) Churn(ctx context.Context, fn TxFunc) (int, error) {
	res, err := p.slots.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer res.Destroy()
	return fn(ctx, res.Value())
}

// Close implements [Peer].
func (p *puddlePool) Close() error {
	p.slots.Close()
	for _, one := range p.resources {
		one.Close()
	}
	return nil
}
