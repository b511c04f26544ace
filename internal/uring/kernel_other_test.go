//go:build !linux || (!amd64 && !386 && !arm64)

package uring

import (
	"errors"
	"testing"
)

func TestElsewhereThereIsNoRing(t *testing.T) {
	r, err := New(Config{})
	if _, ok := errors.AsType[*Error](err); r != nil || !ok || !errors.Is(err, errors.ErrUnsupported) {
		t.Error(r, err)
	}
}
