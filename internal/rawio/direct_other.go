//go:build !linux && !darwin

package rawio

import "errors"

// Direct is a flag of Open that is not the system's own: past the page cache, which is
// errors.ErrUnsupported here.
const Direct = 1 << 30

const nativeDirect = false

func direct(uintptr) error           { return errors.ErrUnsupported }
func directIO(uintptr) (bool, error) { return false, nil }
func sectorSize(uintptr) int         { return 0 }
