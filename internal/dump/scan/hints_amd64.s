#include "textflag.h"

// func hintsAVX2(out, src, tables *byte, words int) (any uint32)
//
// For each word of four bytes of out it loads 32 bytes and the 32 that begin one further, looks up what the halves of
// each say, and sets the bits of those pairs of which all four halves agree on a group. Bytes beyond ASCII have no low half
// here, and are in no pair.
TEXT ·hintsAVX2(SB), NOSPLIT, $0-36
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
	XORL R8, R8
	XORL R10, R10
	SHLQ $2, CX
	JZ   done

loop:
	VMOVDQU   (SI)(R10*8), Y0
	VMOVDQU   1(SI)(R10*8), Y1
	VPSRLW    $4, Y0, Y2
	VPSRLW    $4, Y1, Y3
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
	ORL       AX, R8
	MOVL      AX, (DI)(R10*1)
	ADDQ      $4, R10
	CMPQ      R10, CX
	JNE       loop

done:
	VZEROUPPER
	MOVL R8, any+32(FP)
	RET
