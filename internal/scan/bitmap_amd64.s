#include "textflag.h"

// A byte is a sign if it is the one that the low half of it stands for here. The second table is of bytes beyond ASCII,
// less their top bit.
DATA signBytes<>+0(SB)/8, $0x8026258080808040
DATA signBytes<>+8(SB)/8, $0x80807d5c5b808028
DATA signBytes<>+16(SB)/8, $0x8026258080808040
DATA signBytes<>+24(SB)/8, $0x80807d5c5b808028
DATA signBytes<>+32(SB)/8, $0x8080808080628020
DATA signBytes<>+40(SB)/8, $0x6f80808080808080
DATA signBytes<>+48(SB)/8, $0x8080808080628020
DATA signBytes<>+56(SB)/8, $0x6f80808080808080
GLOBL signBytes<>(SB), RODATA|NOPTR, $64

// func markAVX2(digits, signs, hyphens, src *byte, words int)
//
// For each word of four bytes it loads 32 and sets the bits of those that are digits (0x46 more, as a signed byte, a digit
// is above 0x75, and nothing else is) in digits, of those that are signs in signs, and of hyphens in hyphens. Of an odd
// number of words the first goes alone.
TEXT ·markAVX2(SB), NOSPLIT, $0-40
	MOVQ digits+0(FP), DI
	MOVQ signs+8(FP), DX
	MOVQ hyphens+16(FP), R8
	MOVQ src+24(FP), SI
	MOVQ words+32(FP), CX
	MOVL $0x2d2d2d2d, AX
	VMOVD AX, X10
	VPBROADCASTD X10, Y10
	MOVL $0x46464646, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	MOVL $0x75757575, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	MOVL $0x80808080, AX
	VMOVD AX, X8
	VPBROADCASTD X8, Y8
	VMOVDQU signBytes<>(SB), Y4
	VMOVDQU signBytes<>+32(SB), Y5
	XORL R10, R10
	TESTQ $1, CX
	LEAQ  (CX*4), CX                 // bytes of each bitmap
	JZ   pairs
	VMOVDQU   (SI), Y2
	VPCMPEQB  Y2, Y10, Y11
	VPSHUFB   Y2, Y4, Y6
	VPCMPEQB  Y2, Y6, Y6
	VPXOR     Y8, Y2, Y9
	VPSHUFB   Y9, Y5, Y7
	VPCMPEQB  Y9, Y7, Y7
	VPADDB    Y0, Y2, Y2
	VPCMPGTB  Y1, Y2, Y3
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y3, AX
	VPMOVMSKB Y6, BX
	VPMOVMSKB Y11, R9
	MOVL      AX, (DI)
	MOVL      BX, (DX)
	MOVL      R9, (R8)
	ADDQ      $4, R10

pairs:
	CMPQ R10, CX
	JEQ  done

loop:
	VMOVDQU   (SI)(R10*8), Y2
	VMOVDQU   32(SI)(R10*8), Y12
	VPCMPEQB  Y2, Y10, Y11
	VPSHUFB   Y2, Y4, Y6
	VPCMPEQB  Y2, Y6, Y6
	VPXOR     Y8, Y2, Y9
	VPSHUFB   Y9, Y5, Y7
	VPCMPEQB  Y9, Y7, Y7
	VPADDB    Y0, Y2, Y2
	VPCMPGTB  Y1, Y2, Y3
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y3, AX
	VPMOVMSKB Y6, BX
	VPMOVMSKB Y11, R9
	MOVL      AX, (DI)(R10*1)
	MOVL      BX, (DX)(R10*1)
	MOVL      R9, (R8)(R10*1)
	VPCMPEQB  Y12, Y10, Y11
	VPSHUFB   Y12, Y4, Y6
	VPCMPEQB  Y12, Y6, Y6
	VPXOR     Y8, Y12, Y9
	VPSHUFB   Y9, Y5, Y7
	VPCMPEQB  Y9, Y7, Y7
	VPADDB    Y0, Y12, Y12
	VPCMPGTB  Y1, Y12, Y3
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y3, AX
	VPMOVMSKB Y6, BX
	VPMOVMSKB Y11, R9
	MOVL      AX, 4(DI)(R10*1)
	MOVL      BX, 4(DX)(R10*1)
	MOVL      R9, 4(R8)(R10*1)
	ADDQ      $8, R10
	CMPQ      R10, CX
	JNE       loop

done:
	VZEROUPPER
	RET

// Of sixteen bytes, the eight from the first on and the eight from the seventh on: two windows, 48 bits apart.
DATA windows<>+0(SB)/8, $0x0706050403020100
DATA windows<>+8(SB)/8, $0x0d0c0b0a09080706
DATA windows<>+16(SB)/8, $0x0706050403020100
DATA windows<>+24(SB)/8, $0x0d0c0b0a09080706
GLOBL windows<>(SB), RODATA|NOPTR, $32

// func rhythmsAVX2(places, keys *[84]uint64, digits, hyphens *bitmap) (keyed bool)
//
// It does what rhythms and keyPlaces do for four windows of 64 bits at once, 24 bytes of the bitmaps further each time.
TEXT ·rhythmsAVX2(SB), NOSPLIT, $0-33
	MOVQ    places+0(FP), DI
	MOVQ    keys+8(FP), DX
	MOVQ    digits+16(FP), SI
	MOVQ    hyphens+24(FP), R8
	MOVQ    $21, CX
	VPXOR   Y12, Y12, Y12            // all keys
	VMOVDQU windows<>(SB), Y13
	VPCMPEQQ Y14, Y14, Y14
	VPSRLQ  $59, Y14, Y15            // the first five places
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
	VPAND       Y3, Y7, Y7
	VPAND       Y8, Y9, Y8
	VPAND       Y7, Y10, Y7
	VPAND       Y7, Y8, Y7           // cpf
	VPOR        Y5, Y6, Y5
	VPOR        Y5, Y7, Y5
	VPAND       Y5, Y14, Y5
	VMOVDQU     Y5, (DI)
	VMOVDQU     (R8), X1
	VINSERTI128 $1, 12(R8), Y1, Y1
	VPSHUFB     Y13, Y1, Y1          // h
	VPSLLQ      $5, Y1, Y2
	VPSRLQ      $5, Y1, Y3
	VPSRLQ      $10, Y1, Y4
	VPOR        Y15, Y2, Y2
	VPAND       Y3, Y4, Y3
	VPAND       Y2, Y3, Y2           // uuid
	VPSRLQ      $1, Y0, Y3
	VPSRLQ      $2, Y0, Y4
	VPSRLQ      $3, Y0, Y5
	VPSLLQ      $5, Y0, Y6
	VPSRLQ      $3, Y1, Y7
	VPAND       Y3, Y4, Y3
	VPOR        Y5, Y6, Y5
	VPOR        Y5, Y7, Y5
	VPANDN      Y3, Y5, Y3           // cnpj
	VPOR        Y2, Y3, Y2
	VPAND       Y1, Y2, Y2
	VPAND       Y2, Y14, Y2
	VPOR        Y2, Y12, Y12
	VMOVDQU     Y2, (DX)
	ADDQ        $24, SI
	ADDQ        $24, R8
	ADDQ        $32, DI
	ADDQ        $32, DX
	DECQ        CX
	JNZ         next
	VPTEST      Y12, Y12
	SETNE       keyed+32(FP)
	VZEROUPPER
	RET
