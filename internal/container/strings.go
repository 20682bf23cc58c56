package container

// shortestString is how many characters in a row are taken for a text among bytes of which nothing else is known.
const shortestString = 6

// writeStrings writes the texts that stand among bytes, each as a line.
func writeStrings(out *text, b []byte) {
	for _, s := range stringsIn(b) {
		if out.line(s) != nil {
			return
		}
	}
}

// stringsIn returns the texts that stand among bytes, of one or two bytes a character.
func stringsIn(b []byte) (found [][]byte) {
	for i := 0; i < len(b); {
		end := i
		for end+1 < len(b) && isPrintable(b[end]) && b[end+1] == 0 {
			end += 2
		}
		if end-i >= 2*shortestString {
			found = append(found, narrowed(nil, b[i:end]))
			i = end
			continue
		}
		for end = i; end < len(b) && isPrintable(b[end]); end++ {
			if end+1 < len(b) && b[end+1] == 0 && end+3 < len(b) && isPrintable(b[end+2]) && b[end+3] == 0 {
				break // wide characters begin
			}
		}
		if end-i >= shortestString {
			found = append(found, b[i:end])
		}
		i = max(end, i+1)
	}
	return found
}

func isPrintable(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }

func printableBytes(b []byte) bool {
	for _, c := range b {
		if !isPrintable(c) && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

// narrowed appends in UTF-8 what b says in UTF-16, or nothing where it is no such text: one of which most characters are
// Latin.
func narrowed(dst, b []byte) []byte {
	if len(b) < 4 || len(b)%2 != 0 {
		return dst
	}
	zeros := 0
	for i := 1; i < len(b); i += 2 {
		if b[i] == 0 {
			zeros++
		}
		if b[i] == 0 && b[i-1] == 0 {
			return dst
		}
	}
	if zeros*8 < len(b)*3 {
		return dst
	}
	return append(dst, wideText(b, false)...)
}
