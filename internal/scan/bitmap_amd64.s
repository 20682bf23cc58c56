#include "textflag.h"

// func markAVX2(digits, signs, src *byte, words int)
//
// For each word of four bytes it loads 32 and sets the bits of those that are digits (less '0', as an unsigned byte, a digit is at most 9) in
// digits, and of those that are '@' or '%' in signs.
TEXT ·markAVX2(SB), NOSPLIT, $0-32
	MOVQ digits+0(FP), DI
	MOVQ signs+8(FP), DX
	MOVQ src+16(FP), SI
	MOVQ words+24(FP), CX
	MOVL $0x30303030, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	MOVL $0x09090909, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	MOVL $0x40404040, AX
	VMOVD AX, X4
	VPBROADCASTD X4, Y4
	MOVL $0x25252525, AX
	VMOVD AX, X5
	VPBROADCASTD X5, Y5
	TESTQ CX, CX
	JZ   done

loop:
	VMOVDQU   (SI), Y2
	VPCMPEQB  Y4, Y2, Y6
	VPCMPEQB  Y5, Y2, Y7
	VPSUBB    Y0, Y2, Y2
	VPMINUB   Y1, Y2, Y3
	VPCMPEQB  Y2, Y3, Y3
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y3, AX
	VPMOVMSKB Y6, BX
	MOVL      AX, (DI)
	MOVL      BX, (DX)
	ADDQ      $32, SI
	ADDQ      $4, DI
	ADDQ      $4, DX
	DECQ      CX
	JNZ       loop

done:
	VZEROUPPER
	RET
