package linearize

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// kind is what a call does to one handle.
type kind string

const (
	insert  kind = "insert"
	acquire kind = "acquire" // without waiting
	release kind = "release"
	retire  kind = "retire"
	has     kind = "has"

	// A waiting acquire has two moments, since while one waits others may be told
	// that the resource is busy, although nobody has it yet.
	enter kind = "enter the line"
	leave kind = "leave the line"

	// Close has two halves, since it comes to one handle after another: from the
	// first on calls may hear of the shutdown, in the second the handle is retired.
	closing kind = "closing"
	closed  kind = "closed"
)

// answer is what came back.
type answer string

const (
	yes      answer = "yes" // lent; found; retired
	no       answer = "no"
	orphan   answer = "orphan" // yes, and the resource belongs to the caller
	busy     answer = "busy"
	notFound answer = "not found"
	shutdown answer = "shutdown"
)

// call is one call on one handle; its answer is an answer.
type call struct {
	client int
	handle int
	kind   kind
}

// state is that of one handle.
type state struct {
	born     bool
	retired  bool
	owned    bool // somebody was given the retired resource
	shutting bool // Close has begun
	holder   int  // 0: nobody
	line     uint // bits: clients that wait
}

func (s state) live() bool { return s.born && !s.retired }

// step says whether a call may get this answer in this state, and what follows.
func step(s state, c call, a answer) (bool, state) {
	switch c.kind {
	case insert:
		ok := !s.born
		s.born = true
		return ok, s
	case enter:
		s.line |= 1 << c.client
		return true, s
	case leave, acquire:
		if waits := s.line&(1<<c.client) != 0; waits != (c.kind == leave) {
			return false, s
		}
		s.line &^= 1 << c.client
		switch a {
		case yes:
			ok := s.live() && s.holder == 0
			s.holder = c.client
			return ok, s
		case busy:
			return s.live() && (s.holder != 0 || s.line != 0), s
		case notFound:
			return s.retired && !s.shutting, s
		case shutdown:
			return s.shutting, s
		case no, orphan: // no answers to this
		}
	case release:
		ok := s.holder == c.client && s.retired == (a == orphan) && !s.owned
		s.holder, s.owned = 0, s.retired
		return ok, s
	case has:
		return s.live() == (a == yes), s
	case retire, closed:
		if a == no {
			return s.retired, s
		}
		ok := s.live() && (s.holder == 0) == (a == orphan) && (c.kind == retire || s.shutting)
		s.retired, s.owned = true, s.holder == 0
		return ok, s
	case closing:
		s.shutting = true
		return true, s
	}
	return false, s
}

// registry is the model for the checker. Handles have nothing to do with one
// another, so each has a history of its own.
func registryModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
			for _, op := range history {
				h := op.Input.(call).handle
				for len(parts) <= h {
					parts = append(parts, nil)
				}
				parts[h] = append(parts[h], op)
			}
			return parts
		},
		Init: func() any { return state{} },
		Step: func(s, c, a any) (bool, any) {
			ok, next := step(s.(state), c.(call), a.(answer))
			return ok, next
		},
	}
}

// describe is the history of the handles that the checker objects to.
func describe(history []porcupine.Operation) (text string) {
	for h, part := range registryModel().Partition(history) {
		if porcupine.CheckOperations(registryModel(), part) {
			continue
		}
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		text += fmt.Sprintf("handle %d:\n", h)
		for _, op := range part {
			c := op.Input.(call)
			text += fmt.Sprintf("  %5d to %5d: client %d: %s: %s\n", op.Call, op.Return, c.client, c.kind, op.Output)
		}
	}
	return text
}
