//go:build !linux || (!amd64 && !386 && !arm64)

package uring

import "errors"

func system() (kernel, error) {
	return nil, &Error{Step: "io_uring_setup", Err: errors.ErrUnsupported}
}
