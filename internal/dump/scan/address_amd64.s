#include "textflag.h"

// Constants for all 32 bytes of a register: 0x20, 'a', 25, '0', 9, '.', '-', '_', '+'.
DATA addressBytes<>+0(SB)/8, $0x2020202020202020
DATA addressBytes<>+8(SB)/8, $0x2020202020202020
DATA addressBytes<>+16(SB)/8, $0x2020202020202020
DATA addressBytes<>+24(SB)/8, $0x2020202020202020
DATA addressBytes<>+32(SB)/8, $0x6161616161616161
DATA addressBytes<>+40(SB)/8, $0x6161616161616161
DATA addressBytes<>+48(SB)/8, $0x6161616161616161
DATA addressBytes<>+56(SB)/8, $0x6161616161616161
DATA addressBytes<>+64(SB)/8, $0x1919191919191919
DATA addressBytes<>+72(SB)/8, $0x1919191919191919
DATA addressBytes<>+80(SB)/8, $0x1919191919191919
DATA addressBytes<>+88(SB)/8, $0x1919191919191919
DATA addressBytes<>+96(SB)/8, $0x3030303030303030
DATA addressBytes<>+104(SB)/8, $0x3030303030303030
DATA addressBytes<>+112(SB)/8, $0x3030303030303030
DATA addressBytes<>+120(SB)/8, $0x3030303030303030
DATA addressBytes<>+128(SB)/8, $0x0909090909090909
DATA addressBytes<>+136(SB)/8, $0x0909090909090909
DATA addressBytes<>+144(SB)/8, $0x0909090909090909
DATA addressBytes<>+152(SB)/8, $0x0909090909090909
DATA addressBytes<>+160(SB)/8, $0x2e2e2e2e2e2e2e2e
DATA addressBytes<>+168(SB)/8, $0x2e2e2e2e2e2e2e2e
DATA addressBytes<>+176(SB)/8, $0x2e2e2e2e2e2e2e2e
DATA addressBytes<>+184(SB)/8, $0x2e2e2e2e2e2e2e2e
DATA addressBytes<>+192(SB)/8, $0x2d2d2d2d2d2d2d2d
DATA addressBytes<>+200(SB)/8, $0x2d2d2d2d2d2d2d2d
DATA addressBytes<>+208(SB)/8, $0x2d2d2d2d2d2d2d2d
DATA addressBytes<>+216(SB)/8, $0x2d2d2d2d2d2d2d2d
DATA addressBytes<>+224(SB)/8, $0x5f5f5f5f5f5f5f5f
DATA addressBytes<>+232(SB)/8, $0x5f5f5f5f5f5f5f5f
DATA addressBytes<>+240(SB)/8, $0x5f5f5f5f5f5f5f5f
DATA addressBytes<>+248(SB)/8, $0x5f5f5f5f5f5f5f5f
DATA addressBytes<>+256(SB)/8, $0x2b2b2b2b2b2b2b2b
DATA addressBytes<>+264(SB)/8, $0x2b2b2b2b2b2b2b2b
DATA addressBytes<>+272(SB)/8, $0x2b2b2b2b2b2b2b2b
DATA addressBytes<>+280(SB)/8, $0x2b2b2b2b2b2b2b2b
GLOBL addressBytes<>(SB), RODATA|NOPTR, $288

// half classifies the 32 bytes at src and writes them in lower case to DI(to): letters in Y10, letters and digits in Y11,
// dots in Y12, hyphens in Y13.
#define half(src, to) \
	VMOVDQU   (src), Y9;                         \
	VPOR      addressBytes<>+0(SB), Y9, Y10;     \ // a letter with 0x20 is a small one
	VPSUBB    addressBytes<>+32(SB), Y10, Y10;   \
	VPMINUB   addressBytes<>+64(SB), Y10, Y11;   \
	VPCMPEQB  Y10, Y11, Y10;                     \ // letters
	VPAND     addressBytes<>+0(SB), Y10, Y11;    \
	VPOR      Y11, Y9, Y11;                      \
	VMOVDQU   Y11, to(DI);                       \
	VPSUBB    addressBytes<>+96(SB), Y9, Y11;    \
	VPMINUB   addressBytes<>+128(SB), Y11, Y12;  \
	VPCMPEQB  Y11, Y12, Y11;                     \ // digits
	VPOR      Y10, Y11, Y11;                     \
	VPCMPEQB  addressBytes<>+160(SB), Y9, Y12;   \ // dots
	VPCMPEQB  addressBytes<>+192(SB), Y9, Y13    // hyphens

// func addressAVX2(dst, local, domain *byte, out *addressShape)
//
// Dots and hyphens stand between other characters, in a local part dots only: with one put before and behind, no two are
// neighbours. Four hyphens in a row part fields. The last label is of letters. CX gathers what is wrong.
TEXT ·addressAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ local+8(FP), SI
	MOVQ domain+16(FP), DX
	MOVQ out+24(FP), BX
	half(SI, 0)
	VPCMPEQB  addressBytes<>+224(SB), Y9, Y14
	VPCMPEQB  addressBytes<>+256(SB), Y9, Y15
	VPOR      Y12, Y11, Y11
	VPOR      Y13, Y14, Y14
	VPOR      Y11, Y15, Y15
	VPOR      Y14, Y15, Y15
	VPMOVMSKB Y15, R8
	VPMOVMSKB Y12, R10
	VPMOVMSKB Y13, R11
	NOTL      R8
	LEAQ      1(R8)(R8*1), R8
	BSRQ      R8, R8              // how many bytes the local part does not reach to
	MOVL      $32, R9
	SUBL      R8, R9              // how many it has
	MOVQ      R9, 0(BX)
	SHRXQ     R8, R10, R10
	LEAQ      1(R10)(R10*1), R10
	LEAL      1(R9), AX
	BTSQ      AX, R10
	MOVQ      R10, CX
	SHRQ      $1, CX
	ANDQ      R10, CX
	SHRXQ     R8, R11, R11
	MOVQ      R11, AX
	SHRQ      $1, AX
	ANDQ      R11, AX
	MOVQ      AX, R12
	SHRQ      $2, R12
	ANDQ      AX, R12
	ORQ       R12, CX
	half(DX, 33)
	VPOR      Y12, Y11, Y11
	VPOR      Y13, Y11, Y11
	VPMOVMSKB Y11, R8
	VPMOVMSKB Y10, R9
	VPMOVMSKB Y12, R10
	VPMOVMSKB Y13, R11
	NOTL      R8
	BTSQ      $32, R8
	BSFQ      R8, R8              // how many bytes the domain has
	MOVQ      R8, 8(BX)
	BZHIQ     R8, R10, R10
	BZHIQ     R8, R11, R11
	ORQ       R10, R11
	LEAQ      1(R11)(R11*1), R11
	LEAL      1(R8), AX
	BTSQ      AX, R11
	MOVQ      R11, R12
	SHRQ      $1, R12
	ANDQ      R11, R12
	ORQ       R12, CX
	LEAQ      1(R10)(R10*1), R10
	BSRQ      R10, R10            // where the last label begins
	MOVQ      R10, 16(BX)
	NOTL      R9
	BZHIQ     R8, R9, R9
	SHRXQ     R10, R9, R9
	ORQ       R9, CX
	MOVQ      CX, 24(BX)
	VZEROUPPER
	RET
