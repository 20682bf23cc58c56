#include "textflag.h"

// func digitBitsAVX2(dst, src *byte, words int)
//
// For each word of four bytes it loads 32 and sets the bits of those that are digits: less '0', as an unsigned byte, a digit is at most 9.
TEXT ·digitBitsAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ words+16(FP), CX
	MOVL $0x30303030, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	MOVL $0x09090909, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	TESTQ CX, CX
	JZ   done

loop:
	VMOVDQU   (SI), Y2
	VPSUBB    Y0, Y2, Y2
	VPMINUB   Y1, Y2, Y3
	VPCMPEQB  Y2, Y3, Y3
	VPMOVMSKB Y3, AX
	MOVL      AX, (DI)
	ADDQ      $32, SI
	ADDQ      $4, DI
	DECQ      CX
	JNZ       loop

done:
	VZEROUPPER
	RET
