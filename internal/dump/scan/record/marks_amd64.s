#include "textflag.h"

// A character is a sign if the row of its upper four bits has a bit in common with the column of its lower four bits:
// 1 for 0x0., 2 for 0x2., 4 for 0x3., 8 for 0x5., 16 for 0x7. A byte beyond ASCII has no column.
DATA columns<>+0(SB)/8, $0x0200000000020000
DATA columns<>+8(SB)/8, $0x0000191a1c050302
GLOBL columns<>(SB), RODATA|NOPTR, $16
DATA rows<>+0(SB)/8, $0x1000080004020001
DATA rows<>+8(SB)/8, $0x0000000000000000
GLOBL rows<>(SB), RODATA|NOPTR, $16

// func markAVX2(lines, signs *uint64, src *byte, words int)
TEXT ·markAVX2(SB), NOSPLIT, $0-32
	MOVQ lines+0(FP), DI
	MOVQ signs+8(FP), DX
	MOVQ src+16(FP), SI
	MOVQ words+24(FP), CX
	VBROADCASTI128 columns<>(SB), Y0
	VBROADCASTI128 rows<>(SB), Y1
	MOVL $0x0f0f0f0f, AX
	VMOVD AX, X2
	VPBROADCASTD X2, Y2
	MOVL $0x0a0a0a0a, AX
	VMOVD AX, X3
	VPBROADCASTD X3, Y3
	VPXOR Y4, Y4, Y4

loop:
	VMOVDQU   (SI), Y5
	VMOVDQU   32(SI), Y6
	VPCMPEQB  Y3, Y5, Y7
	VPCMPEQB  Y3, Y6, Y8
	VPMOVMSKB Y7, AX
	VPMOVMSKB Y8, BX
	SHLQ      $32, BX
	ORQ       BX, AX
	MOVQ      AX, (DI)
	VPSRLW    $4, Y5, Y9
	VPSRLW    $4, Y6, Y10
	VPAND     Y2, Y9, Y9
	VPAND     Y2, Y10, Y10
	VPSHUFB   Y5, Y0, Y5
	VPSHUFB   Y6, Y0, Y6
	VPSHUFB   Y9, Y1, Y9
	VPSHUFB   Y10, Y1, Y10
	VPAND     Y9, Y5, Y5
	VPAND     Y10, Y6, Y6
	VPCMPEQB  Y4, Y5, Y5
	VPCMPEQB  Y4, Y6, Y6
	VPMOVMSKB Y5, AX
	VPMOVMSKB Y6, BX
	SHLQ      $32, BX
	ORQ       BX, AX
	NOTQ      AX
	MOVQ      AX, (DX)
	ADDQ      $64, SI
	ADDQ      $8, DI
	ADDQ      $8, DX
	DECQ      CX
	JNZ       loop
	VZEROUPPER
	RET
