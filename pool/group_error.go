package pool

import (
	"context"
	"errors"
	"fmt"
)

// GroupError is the errors of several members of a [Group].
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
