//go:build !linux || !(amd64 || 386 || arm64)

package interrupt

import "errors"

func take(int) (system, error) { return nil, errors.ErrUnsupported }
