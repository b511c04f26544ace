package handle_test

import (
	"errors"
	"fmt"

	"github.com/iolane/iolane/handle"
)

// An ID is a plain value: it can be logged, compared, kept in a map, and handed
// to a protocol that knows only 64-bit numbers.
func ExampleID() {
	id := handle.Make(0x1f3a9c0d5e7b2468, 17, 3) // a pool's Register returns one

	fmt.Println(id)
	paths := map[handle.ID]string{id: "/mnt/a"}
	fmt.Println(paths[id])

	fh := id.Uint64() // as in a FUSE reply to open
	fmt.Println(fh, handle.FromUint64(id.Scope(), fh) == id)

	next := handle.Make(id.Scope(), id.Slot(), id.Generation()+1) // the place was used again
	fmt.Println(next, next == id)
	// Output:
	// h1f3a9c0d5e7b2468.17.3
	// /mnt/a
	// 73014444035 true
	// h1f3a9c0d5e7b2468.17.4 false
}

// Parse reads an ID that came from outside, and takes its exact text only.
func ExampleParse() {
	for _, text := range []string{"h1f3a9c0d5e7b2468.17.3", "h1f3a9c0d5e7b2468.017.3"} {
		id, err := handle.Parse(text)
		if e, ok := errors.AsType[*handle.ParseError](err); ok {
			fmt.Printf("refused %s\n", e.Text)
			continue
		}
		fmt.Println("slot", id.Slot(), "generation", id.Generation())
	}
	// Output:
	// slot 17 generation 3
	// refused h1f3a9c0d5e7b2468.017.3
}
