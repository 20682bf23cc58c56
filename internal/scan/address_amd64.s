#include "textflag.h"

DATA addressBytes<>+0(SB)/8, $0x2d2e2b5f30196120
DATA addressBytes<>+8(SB)/1, $0x09
GLOBL addressBytes<>(SB), RODATA|NOPTR, $9

// half classifies the 32 bytes at src(off), writes them in lower case to DI(to), and leaves the masks in R8 (letters), R9 (letters and digits), R10
// (dots), R11 (hyphens) and R12 ('_' and '+').
#define half(src, off, to) \
	VMOVDQU   off(src), Y9;      \
	VPOR      Y0, Y9, Y10;       \ // a letter with 0x20 is a small one
	VPSUBB    Y1, Y10, Y10;      \
	VPMINUB   Y2, Y10, Y11;      \
	VPCMPEQB  Y10, Y11, Y10;     \ // letters
	VPAND     Y0, Y10, Y11;      \
	VPOR      Y11, Y9, Y11;      \
	VMOVDQU   Y11, to(DI);       \
	VPSUBB    Y3, Y9, Y11;       \
	VPMINUB   Y8, Y11, Y12;      \
	VPCMPEQB  Y11, Y12, Y11;     \ // digits
	VPOR      Y10, Y11, Y11;     \
	VPCMPEQB  Y6, Y9, Y12;       \ // dots
	VPCMPEQB  Y7, Y9, Y13;       \ // hyphens
	VPCMPEQB  Y4, Y9, Y14;       \
	VPCMPEQB  Y5, Y9, Y15;       \
	VPOR      Y14, Y15, Y14;     \
	VPMOVMSKB Y10, R8;           \
	VPMOVMSKB Y11, R9;           \
	VPMOVMSKB Y12, R10;          \
	VPMOVMSKB Y13, R11;          \
	VPMOVMSKB Y14, R12

// put stores the masks as the lower or upper halves of five words at BX(at).
#define put(at) \
	MOVL R8, at+0(BX);   \
	MOVL R9, at+8(BX);   \
	MOVL R10, at+16(BX); \
	MOVL R11, at+24(BX); \
	MOVL R12, at+32(BX)

// func addressAVX2(dst, local, domain *byte, out *[2]addressMasks)
TEXT ·addressAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ local+8(FP), SI
	MOVQ domain+16(FP), DX
	MOVQ out+24(FP), BX
	VPBROADCASTB addressBytes<>+0(SB), Y0 // 0x20
	VPBROADCASTB addressBytes<>+1(SB), Y1 // 'a'
	VPBROADCASTB addressBytes<>+2(SB), Y2 // 25
	VPBROADCASTB addressBytes<>+3(SB), Y3 // '0'
	VPBROADCASTB addressBytes<>+4(SB), Y4 // '_'
	VPBROADCASTB addressBytes<>+5(SB), Y5 // '+'
	VPBROADCASTB addressBytes<>+6(SB), Y6 // '.'
	VPBROADCASTB addressBytes<>+7(SB), Y7 // '-'
	VPBROADCASTB addressBytes<>+8(SB), Y8 // 9
	half(SI, 0, 0)
	put(0)
	half(SI, 32, 32)
	put(4)
	half(DX, 0, 65)
	put(40)
	half(DX, 32, 97)
	put(44)
	VZEROUPPER
	RET
