#include "textflag.h"

// func self() uintptr
TEXT ·self(SB), NOSPLIT, $0-4
	MOVL (TLS), AX
	MOVL AX, ret+0(FP)
	RET
