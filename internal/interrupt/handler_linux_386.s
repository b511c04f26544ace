#include "textflag.h"

// The kernel calls handler with C's calling convention; it returns to restorer.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0-0
	RET

// rt_sigreturn. In this form debuggers know it for the end of a signal's frame.
TEXT ·restorer(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $173, AX
	INT  $0x80
	INT  $3 // not reached

// The addresses of the two themselves, not of wrappers for Go's calling convention.
TEXT ·entries(SB), NOSPLIT, $0-8
	LEAL ·handler(SB), AX
	MOVL AX, handler+0(FP)
	LEAL ·restorer(SB), AX
	MOVL AX, restorer+4(FP)
	RET
