// Package handle names resources. An [ID] is a small comparable value that a
// program can log, send, and keep in maps; it is no pointer, and holding one
// keeps nothing alive.
//
// An ID has three parts: the scope tells the pool, the slot the place in that
// pool's table, the generation which of the resources that held the place over
// time. A pool never gives out the same ID twice, so an ID whose resource is
// gone can only be refused, never mistaken for a newer one, and an ID of another
// pool (also of another process) is told apart from one that is merely stale.
package handle

import (
	"fmt"
	"strconv"
	"strings"
)

// ID names a resource of one pool. The zero ID names nothing.
type ID struct {
	scope uint64
	slot  uint32
	gen   uint32
}

// Make builds an ID from its parts. Pools make IDs; a program that calls Make
// gets an ID that a pool refuses unless the pool gave out the same one.
func Make(scope uint64, slot, generation uint32) ID {
	return ID{scope: scope, slot: slot, gen: generation}
}

// FromUint64 is the reverse of [ID.Uint64] for the pool with the given scope.
// Zero gives the zero ID.
func FromUint64(scope, u uint64) ID {
	if u == 0 {
		return ID{}
	}
	return ID{scope: scope, slot: uint32(u >> 32), gen: uint32(u)}
}

// IsZero reports whether id is the zero ID, which names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// Scope returns the number of the pool that gave out id.
func (id ID) Scope() uint64 { return id.scope }

// Slot returns the place in the pool's table.
func (id ID) Slot() uint32 { return id.slot }

// Generation returns the generation, at least 1 in an ID that a pool gave out.
func (id ID) Generation() uint32 { return id.gen }

// Uint64 packs slot and generation, for tables that hold 64-bit handles, such as
// those of FUSE. Unique within the pool, and zero for no ID that a pool gave
// out. The scope is lost: the same number may name something else in another pool,
// also in the same program's next run, so whoever keeps it must know the pool.
func (id ID) Uint64() uint64 { return uint64(id.slot)<<32 | uint64(id.gen) }

// String returns the text form: scope in hexadecimal, slot and generation in
// decimal, as in "h1f3a9c0d5e7b2468.17.3", or "h0" for the zero ID.
func (id ID) String() string {
	if id.IsZero() {
		return "h0"
	}
	b := make([]byte, 0, 40)
	b = append(b, 'h')
	b = strconv.AppendUint(b, id.scope, 16)
	b = append(b, '.')
	b = strconv.AppendUint(b, uint64(id.slot), 10)
	b = append(b, '.')
	b = strconv.AppendUint(b, uint64(id.gen), 10)
	return string(b)
}

// Parse reads the form that [ID.String] writes. Only that exact form is taken:
// no signs, no leading zeros, no capitals. Its error is a [*ParseError].
func Parse(s string) (ID, error) {
	if s == "h0" {
		return ID{}, nil
	}
	rest, ok := strings.CutPrefix(s, "h")
	parts := strings.SplitN(rest, ".", 4) // a fourth is one too many, whatever it holds
	if !ok || len(parts) != 3 {
		return ID{}, &ParseError{Text: s}
	}
	scope, err1 := strconv.ParseUint(parts[0], 16, 64)
	slot, err2 := strconv.ParseUint(parts[1], 10, 32)
	gen, err3 := strconv.ParseUint(parts[2], 10, 32)
	id := ID{scope: scope, slot: uint32(slot), gen: uint32(gen)}
	if err1 != nil || err2 != nil || err3 != nil || id.String() != s {
		return ID{}, &ParseError{Text: s}
	}
	return id, nil
}

// MarshalText implements [encoding.TextMarshaler] with the form of String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. On an error, which is a
// [*ParseError], the ID is left as it was.
func (id *ID) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*id = v
	return nil
}

// ParseError reports text that is not the text form of an ID.
type ParseError struct{ Text string }

func (e *ParseError) Error() string { return fmt.Sprintf("handle: not an ID: %q", e.Text) }
