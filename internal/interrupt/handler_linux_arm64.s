#include "textflag.h"

// The kernel calls handler with the address of its own restorer to return to.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0-0
	RET

// Not used: the kernel has one.
TEXT ·restorer(SB), NOSPLIT|NOFRAME, $0-0
	RET

// The address of handler itself, not of a wrapper for Go's calling convention.
TEXT ·entries(SB), NOSPLIT, $0-16
	MOVD $·handler(SB), R0
	MOVD R0, handler+0(FP)
	MOVD ZR, restorer+8(FP)
	RET
