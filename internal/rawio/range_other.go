//go:build !linux && !darwin

package rawio

import "errors"

func fallocate(uintptr, uint32, int64, int64) error { return errors.ErrUnsupported }
