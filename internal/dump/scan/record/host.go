package record

import "bytes"

// longestHost is how long the name of a host may be.
const longestHost = 253

// setSite takes the host out of an address.
func (r *Reader) setSite(url []byte) {
	if site := AppendHost(r.site[:0], url); len(site) > 0 {
		r.out.Site = site
	}
}

// AppendHost appends the host of an address, in lower case and without www, or nothing where it has none.
func AppendHost(dst, url []byte) []byte {
	if n := bytes.Index(url, []byte("://")); n >= 0 {
		url = url[n+3:]
	}
	from, to := 0, len(url)
	for i, c := range url {
		if inHost[c] != 0 {
			continue
		}
		if c == '/' || c == '?' || c == '#' || c == ' ' || c == '\t' {
			to = i
			break
		}
		if c == '@' {
			from = i + 1
		}
	}
	url = url[from:to]
	if n := bytes.IndexByte(url, ':'); n >= 0 {
		url = url[:n]
	}
	if len(url) < 4 || len(url) > longestHost || bytes.IndexByte(url, '.') <= 0 {
		return dst[:0]
	}
	for _, c := range url {
		if inHost[c] == 0 {
			return dst[:0]
		}
		dst = append(dst, inHost[c])
	}
	return bytes.TrimPrefix(dst, []byte("www."))
}

// inHost has the characters that names of hosts are made of, in lower case.
var inHost = func() (t [256]byte) {
	for c, isIn := range byteSet(hasLetter|hasDigit, ".-_") {
		if isIn {
			t[c] = lowered(byte(c))
		}
	}
	return t
}()
