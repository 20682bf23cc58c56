#include "textflag.h"

// func hintsAVX2(out, src, tables *byte, words int)
//
// For each word of four bytes of out it loads 32 bytes and the 32 that begin one further, looks up what the halves of
// each say, and sets the bits of those pairs of which all four halves agree on a group.
TEXT ·hintsAVX2(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ tables+16(FP), DX
	MOVQ words+24(FP), CX
	VMOVDQU (DX), Y8
	VMOVDQU 32(DX), Y9
	VMOVDQU 64(DX), Y10
	VMOVDQU 96(DX), Y11
	MOVL $0x0f0f0f0f, AX
	VMOVD AX, X12
	VPBROADCASTD X12, Y12
	VPXOR Y13, Y13, Y13
	TESTQ CX, CX
	JZ   done

loop:
	VMOVDQU   (SI), Y0
	VMOVDQU   1(SI), Y1
	VPSRLW    $4, Y0, Y2
	VPSRLW    $4, Y1, Y3
	VPAND     Y12, Y0, Y0
	VPAND     Y12, Y1, Y1
	VPAND     Y12, Y2, Y2
	VPAND     Y12, Y3, Y3
	VPSHUFB   Y0, Y8, Y0
	VPSHUFB   Y2, Y9, Y2
	VPSHUFB   Y1, Y10, Y1
	VPSHUFB   Y3, Y11, Y3
	VPAND     Y0, Y2, Y0
	VPAND     Y1, Y3, Y1
	VPAND     Y0, Y1, Y0
	VPCMPEQB  Y13, Y0, Y0
	VPMOVMSKB Y0, AX
	NOTL      AX
	MOVL      AX, (DI)
	ADDQ      $32, SI
	ADDQ      $4, DI
	DECQ      CX
	JNZ       loop

done:
	VZEROUPPER
	RET
