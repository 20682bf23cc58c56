package scan

// A hint is two bytes that text which needs decoding has and plain text hardly ever has. They are looked for in all of a
// text, so that has to cost next to nothing; what they may begin is then looked at closely. The groups are chosen so that
// the halves of their bytes have few other combinations that are common.
//
// hintPairs are the pairs, in eight groups: any first byte of a group with any second one of it.
var hintPairs = [8]struct{ first, second string }{
	{`\<`, "uxUXw"},         // \u0040, \x40, <wbr>
	{"&%+", "#cu123456789"}, // &#64;, &commat;, %2540, %u0040, +351 912 345 678
	{"QEUk0", "GHB"},        // an '@' in base64, as the first or second of three bytes
	{"A@", "YZabcde<\x00"},  // an '@' in base64, as the third of three; @</b>, @ in wide characters
	{"=", "425?"},           // =40, =2E, =?
	{"\xe2\xef\xc22", "\x80\x81\xbb\xbc\xa0\xadeE"}, // characters without width, dashes, full-width letters, no-break spaces; a dot in hexadecimal digits
	{" >", "@"},        // maria @ exemplo.com, <b>@</b>
	{"[({", "aAdDpP "}, // [at], (arroba), {dot}
}

// hintTables are what the low and the high half of a first and of a second byte say: a bit for each group.
type hintTables [4][32]byte

var hintTable = func() (t hintTables) {
	for group, pair := range hintPairs {
		for which, set := range [2]string{pair.first, pair.second} {
			for _, c := range []byte(set) {
				for lane := 0; lane < 32; lane += 16 {
					t[2*which][lane+int(c&15)] |= 1 << group
					t[2*which+1][lane+int(c>>4)] |= 1 << group
				}
			}
		}
	}
	return t
}()

// pairOf is what both bytes say, a bit for each group.
func pairOf(a, b byte) byte {
	t := &hintTable
	return t[0][a&15] & t[1][a>>4] & t[2][b&15] & t[3][b>>4]
}

// hintsPortable is hints for processors without a faster way.
func hintsPortable(out, src []byte) {
	for k := range out {
		var bits byte
		for n := range 8 {
			if pairOf(src[k*8+n], src[k*8+n+1]) != 0 {
				bits |= 1 << n
			}
		}
		out[k] = bits
	}
}
