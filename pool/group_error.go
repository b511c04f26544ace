package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/iolane/iolane/ioerr"
)

// GroupError is the errors of several calls: of the members of a [Group], or of [First].
//
// Asked for an *ioerr.Error (errors.AsType), it tells of all of them together: its Effect is
// None only if none of them ran. Its Err is the GroupError.
type GroupError struct {
	Errs []error // in the order in which the members ended
	More int     // how many there were beyond these
}

// Error tells them, one a line.
func (e *GroupError) Error() string {
	text := errors.Join(e.Errs...).Error()
	if e.More > 0 {
		text += fmt.Sprintf("\nand %d more errors", e.More)
	}
	return text
}

// Unwrap returns Errs.
func (e *GroupError) Unwrap() []error { return e.Errs }

// As is for errors.As and errors.AsType.
func (e *GroupError) As(target any) bool {
	all, ok := target.(**ioerr.Error)
	if !ok {
		return false
	}
	sum := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Err: e}
	for i, err := range e.Errs {
		if one, ok := errors.AsType[*ioerr.Error](err); !ok {
			sum.Effect = max(sum.Effect, ioerr.Done)
		} else {
			if i == 0 {
				sum.Outcome, sum.Lane = one.Outcome, one.Lane
			}
			sum.Effect = max(sum.Effect, one.Effect)
		}
	}
	*all = sum
	return true
}

// groupContext is what a member gets. It tells that the caller is inside.
type groupContext struct {
	context.Context
	group *Group
	base  context.Context //nolint:containedctx // of the member
}

// groupKey asks whether a context is inside a group.
type groupKey struct{ *Group }

// Value implements context.Context.
func (c *groupContext) Value(key any) any {
	if k, ok := key.(groupKey); ok && k.Group == c.group {
		return c
	}
	return c.Context.Value(key)
}

func (g *Group) inside(ctx context.Context) bool { return ctx.Value(groupKey{g}) != nil }

// base is what the context of a new member is made from. That of a member ends with it,
// and those that it has started need not: so they have the same base.
func (g *Group) base(ctx context.Context) context.Context {
	if c, ok := ctx.Value(groupKey{g}).(*groupContext); ok {
		return c.base
	}
	return ctx
}
