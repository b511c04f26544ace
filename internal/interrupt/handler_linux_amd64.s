#include "textflag.h"

// The kernel calls handler with C's calling convention; it returns to restorer.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0-0
	RET

// rt_sigreturn. In this form debuggers know it for the end of a signal's frame.
TEXT ·restorer(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ $15, AX
	SYSCALL
	INT  $3 // not reached

// The addresses of the two themselves, not of wrappers for Go's calling convention.
TEXT ·entries(SB), NOSPLIT, $0-16
	LEAQ ·handler(SB), AX
	MOVQ AX, handler+0(FP)
	LEAQ ·restorer(SB), AX
	MOVQ AX, restorer+8(FP)
	RET
