//go:build linux && !(amd64 || 386 || arm64 || riscv64 || loong64)

package rawio

func advise(uintptr, int64, int64, int) error { return nil }
