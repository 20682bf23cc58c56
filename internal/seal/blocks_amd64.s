#include "textflag.h"

#define all8(op) \
	op X8, X0; \
	op X8, X1; \
	op X8, X2; \
	op X8, X3; \
	op X8, X4; \
	op X8, X5; \
	op X8, X6; \
	op X8, X7

// func encryptAES(keys *[15]words, rounds int, blocks *words, n int)
//
// It encrypts n blocks in place, eight at a time: a round of one block takes as long as a round of eight, which do not wait for each other.
TEXT ·encryptAES(SB), NOSPLIT, $0-32
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), R8
	MOVQ blocks+16(FP), DI
	MOVQ n+24(FP), CX
	DECQ R8 // the last round is another instruction

eight:
	CMPQ  CX, $8
	JLT   one
	MOVOU 0(DI), X0
	MOVOU 16(DI), X1
	MOVOU 32(DI), X2
	MOVOU 48(DI), X3
	MOVOU 64(DI), X4
	MOVOU 80(DI), X5
	MOVOU 96(DI), X6
	MOVOU 112(DI), X7
	MOVOU (AX), X8
	all8(PXOR)
	LEAQ  16(AX), BX
	MOVQ  R8, DX

round8:
	MOVOU (BX), X8
	all8(AESENC)
	ADDQ  $16, BX
	DECQ  DX
	JNZ   round8
	MOVOU (BX), X8
	all8(AESENCLAST)
	MOVOU X0, 0(DI)
	MOVOU X1, 16(DI)
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	MOVOU X4, 64(DI)
	MOVOU X5, 80(DI)
	MOVOU X6, 96(DI)
	MOVOU X7, 112(DI)
	ADDQ  $128, DI
	SUBQ  $8, CX
	JMP   eight

one:
	TESTQ CX, CX
	JZ    done
	MOVOU (DI), X0
	MOVOU (AX), X8
	PXOR  X8, X0
	LEAQ  16(AX), BX
	MOVQ  R8, DX

round1:
	MOVOU  (BX), X8
	AESENC X8, X0
	ADDQ   $16, BX
	DECQ   DX
	JNZ    round1
	MOVOU  (BX), X8
	AESENCLAST X8, X0
	MOVOU  X0, (DI)
	ADDQ   $16, DI
	DECQ   CX
	JMP    one

done:
	RET
