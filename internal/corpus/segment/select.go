package segment

import "math/bits"

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// selectInByte[b][k] is the position of the k-th set bit of b.
var selectInByte = func() (t [256][8]uint8) {
	for b := range t {
		k := 0
		for i := range 8 {
			if b>>i&1 == 1 {
				t[b][k] = uint8(i)
				k++
			}
		}
	}
	return t
}()

// selectBit returns the position of the k-th set bit of x, counted from 0. x must have more than k set bits.
func selectBit(x uint64, k uint) uint {
	// sums holds in each byte the number of set bits of x up to and including that byte.
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	sums := (s + s>>4) & 0x0f0f0f0f0f0f0f0f * everyByte
	// The bytes whose sum is at most k lie before the wanted bit.
	byteAt := uint(bits.OnesCount64((uint64(k)*everyByte|highBits-sums)&highBits)) * 8
	return byteAt + uint(selectInByte[x>>byteAt&0xff][(k-uint(sums<<8>>byteAt)&0xff)&7])
}
