#include "textflag.h"

// What a byte must be to be a sign, by the low half of it: one of ASCII, less what spoils it; then, from '{' on, by the low
// half of it and 0x85, for which all before have nothing; then one that is a sign where a hyphen follows keySpan behind.
// The third table is what spoils signs of ASCII, by the byte after them: see spoils.
DATA signBytes<>+0(SB)/8, $0x0026250000000040
DATA signBytes<>+8(SB)/8, $0x0000005c5b000028
DATA signBytes<>+16(SB)/8, $0x0026250000000040
DATA signBytes<>+24(SB)/8, $0x0000005c5b000028
DATA signBytes<>+32(SB)/8, $0xe200a0ef0000007b
DATA signBytes<>+40(SB)/8, $0x0000000000000000
DATA signBytes<>+48(SB)/8, $0xe200a0ef0000007b
DATA signBytes<>+56(SB)/8, $0x0000000000000000
DATA signBytes<>+64(SB)/8, $0x2f2f2f2f2f000004
DATA signBytes<>+72(SB)/8, $0x2f2f2f23020a0a04
DATA signBytes<>+80(SB)/8, $0x2f2f2f2f2f000004
DATA signBytes<>+88(SB)/8, $0x2f2f2f23020a0a04
DATA signBytes<>+96(SB)/8, $0x0000000000000000
DATA signBytes<>+104(SB)/8, $0x2f002d0000000000
DATA signBytes<>+112(SB)/8, $0x0000000000000000
DATA signBytes<>+120(SB)/8, $0x2f002d0000000000
GLOBL signBytes<>(SB), RODATA|NOPTR, $128

// classify marks the 32 bytes at off of a word's.
#define classify(off, to) \
	VMOVDQU   off(SI)(R10*8), Y2;         \
	VPAVGB    off+1(SI)(R10*8), Y12, Y9;  \ // half of the byte after each, rounded up
	VPSHUFB   Y9, Y13, Y9;                \
	VPSHUFB   Y2, Y4, Y6;                 \
	VPANDN    Y6, Y9, Y6;                 \
	VPADDB    Y8, Y2, Y7;                 \
	VPSHUFB   Y7, Y5, Y7;                 \
	VPSHUFB   Y2, Y14, Y11;               \
	VPCMPEQB  off+5(SI)(R10*8), Y10, Y15; \ // hyphens five places on
	VPAND     Y11, Y15, Y11;              \
	VPOR      Y6, Y7, Y6;                 \
	VPOR      Y6, Y11, Y6;                \
	VPCMPEQB  Y2, Y6, Y6;                 \
	VPADDB    Y0, Y2, Y2;                 \
	VPCMPGTB  Y1, Y2, Y3;                 \
	VPMOVMSKB Y3, AX;                     \
	VPMOVMSKB Y6, BX;                     \
	MOVL      AX, to(DI)(R10*1);          \
	MOVL      BX, to(DX)(R10*1)

// func markAVX2(digits *byte, signs *uint64, src *byte, words int)
//
// For each word it loads 64 bytes and sets the bits of those that are digits (0x46 more, as a signed byte, a digit is above
// 0x75, and nothing else is) in digits, and of those that are signs, or hyphens or slashes five places before a hyphen, in
// signs.
TEXT ·markAVX2(SB), NOSPLIT, $0-32
	MOVQ digits+0(FP), DI
	MOVQ signs+8(FP), DX
	MOVQ src+16(FP), SI
	MOVQ words+24(FP), CX
	MOVL $0x2d2d2d2d, AX
	VMOVD AX, X10
	VPBROADCASTD X10, Y10
	MOVL $0x46464646, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	MOVL $0x75757575, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	MOVL $0x85858585, AX
	VMOVD AX, X8
	VPBROADCASTD X8, Y8
	VPXOR Y12, Y12, Y12
	VMOVDQU signBytes<>(SB), Y4
	VMOVDQU signBytes<>+32(SB), Y5
	VMOVDQU signBytes<>+64(SB), Y13
	VMOVDQU signBytes<>+96(SB), Y14
	SHLQ $3, CX                        // bytes of each bitmap
	XORL R10, R10

loop:
	classify(0, 0)
	classify(32, 4)
	ADDQ      $8, R10
	CMPQ      R10, CX
	JNE       loop
	VZEROUPPER
	RET

// Of sixteen bytes, the eight from the first on and the eight from the seventh on: two windows, 48 bits apart.
DATA windows<>+0(SB)/8, $0x0706050403020100
DATA windows<>+8(SB)/8, $0x0d0c0b0a09080706
DATA windows<>+16(SB)/8, $0x0706050403020100
DATA windows<>+24(SB)/8, $0x0d0c0b0a09080706
GLOBL windows<>(SB), RODATA|NOPTR, $32

// func rhythmsAVX2(places *[88]uint64, digits *bitmap)
//
// It does what rhythms does for four windows of 64 bits at once, 24 bytes of the bitmap further each time.
TEXT ·rhythmsAVX2(SB), NOSPLIT, $0-16
	MOVQ    places+0(FP), DI
	MOVQ    digits+8(FP), SI
	MOVQ    $22, CX
	VMOVDQU windows<>(SB), Y13
	VPCMPEQQ Y14, Y14, Y14
	VPSRLQ  $16, Y14, Y14            // the first 48 places

next:
	VMOVDQU     (SI), X0
	VINSERTI128 $1, 12(SI), Y0, Y0
	VPSHUFB     Y13, Y0, Y0          // d
	VMOVDQU     -1(SI), X1
	VINSERTI128 $1, 11(SI), Y1, Y1
	VPSHUFB     Y13, Y1, Y1
	VPSRLQ      $7, Y1, Y1           // before
	VPSRLQ      $1, Y0, Y2
	VPSRLQ      $2, Y0, Y3
	VPSRLQ      $3, Y0, Y4
	VPSRLQ      $4, Y0, Y5
	VPAND       Y0, Y2, Y2
	VPAND       Y2, Y3, Y3           // d3
	VPAND       Y3, Y4, Y2           // d4
	VPANDN      Y3, Y4, Y3           // end3
	VPANDN      Y2, Y5, Y4           // end4
	VPSRLQ      $4, Y2, Y5
	VPAND       Y2, Y5, Y5
	VPANDN      Y5, Y1, Y5           // long
	VPSRLQ      $5, Y2, Y6
	VPSRLQ      $7, Y2, Y7
	VPAND       Y6, Y7, Y6
	VPSRLQ      $5, Y4, Y7
	VPSRLQ      $6, Y4, Y8
	VPOR        Y6, Y7, Y6
	VPOR        Y6, Y8, Y6
	VPAND       Y4, Y6, Y6           // split
	VPSRLQ      $4, Y3, Y7
	VPSRLQ      $8, Y3, Y8
	VPSRLQ      $12, Y0, Y9
	VPSRLQ      $13, Y0, Y10
	VPSRLQ      $14, Y0, Y11
	VPOR        Y9, Y11, Y9
	VPAND       Y3, Y7, Y7
	VPAND       Y8, Y9, Y8
	VPAND       Y7, Y10, Y7
	VPAND       Y7, Y8, Y7           // cpf
	VPOR        Y5, Y6, Y5
	VPOR        Y5, Y7, Y5
	VPAND       Y5, Y14, Y5
	VMOVDQU     Y5, (DI)
	ADDQ        $24, SI
	ADDQ        $32, DI
	DECQ        CX
	JNZ         next
	VZEROUPPER
	RET
