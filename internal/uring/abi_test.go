package uring

import (
	"testing"
	"unsafe"
)

func TestTheLayoutIsThatOfTheKernel(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"sqe", unsafe.Sizeof(sqe{}), 64},
		{"sqe.off", unsafe.Offsetof(sqe{}.off), 8},
		{"sqe.addr", unsafe.Offsetof(sqe{}.addr), 16},
		{"sqe.len", unsafe.Offsetof(sqe{}.len), 24},
		{"sqe.opFlags", unsafe.Offsetof(sqe{}.opFlags), 28},
		{"sqe.userData", unsafe.Offsetof(sqe{}.userData), 32},
		{"sqe.bufIndex", unsafe.Offsetof(sqe{}.bufIndex), 40},
		{"cqe", unsafe.Sizeof(cqe{}), 16},
		{"params", unsafe.Sizeof(params{}), 120},
		{"params.sqOff", unsafe.Offsetof(params{}.sqOff), 40},
		{"params.cqOff", unsafe.Offsetof(params{}.cqOff), 80},
		{"extArg", unsafe.Sizeof(extArg{}), 24},
		{"extArg.ts", unsafe.Offsetof(extArg{}.ts), 16},
		{"timespec", unsafe.Sizeof(timespec{}), 16},
		{"probe", unsafe.Sizeof(probe{}), 16 + 256*8},
		{"filesUpdate", unsafe.Sizeof(filesUpdate{}), 16},
		{"filesUpdate.data", unsafe.Offsetof(filesUpdate{}.data), 8},
		{"Iovec", unsafe.Sizeof(Iovec{}), 2 * unsafe.Sizeof(uintptr(0))},
		{"Statx", unsafe.Sizeof(Statx{}), 256},
		{"Statx.Mode", unsafe.Offsetof(Statx{}.Mode), 28},
		{"Statx.Size", unsafe.Offsetof(Statx{}.Size), 40},
		{"Statx.Atime", unsafe.Offsetof(Statx{}.Atime), 64},
		{"Statx.RdevMajor", unsafe.Offsetof(Statx{}.RdevMajor), 128},
		{"Statx.DioMemAlign", unsafe.Offsetof(Statx{}.DioMemAlign), 152},
		{"Statx.DioReadOffsetAlign", unsafe.Offsetof(Statx{}.DioReadOffsetAlign), 180},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
}
