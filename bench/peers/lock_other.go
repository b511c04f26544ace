//go:build !unix

package main

import "errors"

func lockFile(string) (unlock func(), err error) {
	return nil, errors.Join(errors.New("-lock"), errors.ErrUnsupported)
}
