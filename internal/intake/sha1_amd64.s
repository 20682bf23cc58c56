#include "textflag.h"

// One round of SHA-1 for eight passwords. The registers of the state take turns: E becomes the next A, and B is turned
// in its place. Y5 has the round's constant, Y6 to Y8 are for what comes between.
#define ADD(A, B, E) \
	VPADDD Y5, E, E \
	VPADDD Y6, E, E \
	VPSLLD $5, A, Y6 \
	VPSRLD $27, A, Y7 \
	VPOR   Y7, Y6, Y6 \
	VPADDD Y6, E, E \
	VPSLLD $30, B, Y6 \
	VPSRLD $2, B, B \
	VPOR   Y6, B, B

#define CHOOSE(A, B, C, D, E) \
	VPXOR C, D, Y6 \
	VPAND B, Y6, Y6 \
	VPXOR D, Y6, Y6 \
	ADD(A, B, E)

#define PARITY(A, B, C, D, E) \
	VPXOR B, C, Y6 \
	VPXOR D, Y6, Y6 \
	ADD(A, B, E)

#define MAJORITY(A, B, C, D, E) \
	VPOR  B, C, Y6 \
	VPAND D, Y6, Y6 \
	VPAND B, C, Y7 \
	VPOR  Y7, Y6, Y6 \
	ADD(A, B, E)

// The word of round t as it is, and made of earlier ones in the place of the oldest.
#define WORD(t, E) \
	VPADDD ((t)*32)(DI), E, E

#define MIX(t, E) \
	VMOVDQU (((t)&15)*32)(DI), Y8 \
	VPXOR   ((((t)+2)&15)*32)(DI), Y8, Y8 \
	VPXOR   ((((t)+8)&15)*32)(DI), Y8, Y8 \
	VPXOR   ((((t)+13)&15)*32)(DI), Y8, Y8 \
	VPSLLD  $1, Y8, Y7 \
	VPSRLD  $31, Y8, Y8 \
	VPOR    Y7, Y8, Y8 \
	VMOVDQU Y8, (((t)&15)*32)(DI) \
	VPADDD  Y8, E, E

#define FIVE(t, WORD, ROUND) \
	WORD(t, Y4) \
	ROUND(Y0, Y1, Y2, Y3, Y4) \
	WORD(t+1, Y3) \
	ROUND(Y4, Y0, Y1, Y2, Y3) \
	WORD(t+2, Y2) \
	ROUND(Y3, Y4, Y0, Y1, Y2) \
	WORD(t+3, Y1) \
	ROUND(Y2, Y3, Y4, Y0, Y1) \
	WORD(t+4, Y0) \
	ROUND(Y1, Y2, Y3, Y4, Y0)

#define ALL(value, X, Y) \
	MOVL         $value, AX \
	VMOVD        AX, X \
	VPBROADCASTD X, Y

// func sha1AVX2(block *passwordBlock, first, second *[lanes]uint32)
//
// It uses the block up.
TEXT ·sha1AVX2(SB), NOSPLIT, $0-24
	MOVQ block+0(FP), DI
	MOVQ first+8(FP), SI
	MOVQ second+16(FP), DX
	ALL(0x67452301, X0, Y0)
	ALL(0xefcdab89, X1, Y1)
	ALL(0x98badcfe, X2, Y2)
	ALL(0x10325476, X3, Y3)
	ALL(0xc3d2e1f0, X4, Y4)

	ALL(0x5a827999, X5, Y5)
	FIVE(0, WORD, CHOOSE)
	FIVE(5, WORD, CHOOSE)
	FIVE(10, WORD, CHOOSE)
	WORD(15, Y4)
	CHOOSE(Y0, Y1, Y2, Y3, Y4)
	MIX(16, Y3)
	CHOOSE(Y4, Y0, Y1, Y2, Y3)
	MIX(17, Y2)
	CHOOSE(Y3, Y4, Y0, Y1, Y2)
	MIX(18, Y1)
	CHOOSE(Y2, Y3, Y4, Y0, Y1)
	MIX(19, Y0)
	CHOOSE(Y1, Y2, Y3, Y4, Y0)

	ALL(0x6ed9eba1, X5, Y5)
	FIVE(20, MIX, PARITY)
	FIVE(25, MIX, PARITY)
	FIVE(30, MIX, PARITY)
	FIVE(35, MIX, PARITY)

	ALL(0x8f1bbcdc, X5, Y5)
	FIVE(40, MIX, MAJORITY)
	FIVE(45, MIX, MAJORITY)
	FIVE(50, MIX, MAJORITY)
	FIVE(55, MIX, MAJORITY)

	ALL(0xca62c1d6, X5, Y5)
	FIVE(60, MIX, PARITY)
	FIVE(65, MIX, PARITY)
	FIVE(70, MIX, PARITY)
	FIVE(75, MIX, PARITY)

	ALL(0x67452301, X5, Y5)
	VPADDD  Y5, Y0, Y0
	VMOVDQU Y0, (SI)
	ALL(0xefcdab89, X5, Y5)
	VPADDD  Y5, Y1, Y1
	VMOVDQU Y1, (DX)
	VZEROUPPER
	RET
