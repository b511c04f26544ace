package main

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example() {
	main()
	// Output:
	// directory: true <nil>
	// written: 14 <nil>
	// destroyed: <nil>
	// destroyed: failed, none by the handle
	// no such file: failed, done by the call
}
