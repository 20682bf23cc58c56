package record

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescaped returns a value as it was typed. It is valid until the next call.
func (r *Reader) unescaped(f field) []byte {
	v := r.b[f.from:f.to]
	signs := [...]string{literal: "", doubled: `"`, backslash: `\'`, copyText: `\`, jsonText: `\`}[f.escapes]
	if !bytes.ContainsAny(v, signs) {
		return v
	}
	switch f.escapes {
	case literal, doubled:
		r.text = appendTyped(r.text[:0], v, false, '"')
	case backslash:
		r.text = appendTyped(r.text[:0], v, true, '\'')
	case copyText:
		r.text = appendTyped(r.text[:0], v, true, '\\')
	case jsonText:
		r.text = appendJSON(r.text[:0], v)
	}
	return r.text
}

// appendTyped appends v with each doubled quote made single, as SQL and CSV double the quotes within a value, and,
// where they have a meaning, with backslashes undone.
func appendTyped(dst, v []byte, slashes bool, quote byte) []byte {
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case slashes && c == '\\' && i+1 < len(v):
			i++
			dst = append(dst, control(v[i]))
		case c == quote && i+1 < len(v) && v[i+1] == quote:
			i++
			dst = append(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// control returns the character that stands for c behind a backslash; c itself if it has no other meaning.
func control(c byte) byte {
	if i := strings.IndexByte("ntrbf", c); i >= 0 {
		return "\n\t\r\b\f"[i]
	}
	return c
}

// appendJSON appends v with the escapes of JSON undone, surrogate pairs included. Escapes that are not valid are left
// out: a dump may be cut or damaged anywhere.
func appendJSON(dst, v []byte) []byte {
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' || i+1 >= len(v) {
			dst = append(dst, v[i])
			continue
		}
		i++
		if v[i] != 'u' || i+4 >= len(v) {
			dst = append(dst, control(v[i]))
			continue
		}
		n, err := strconv.ParseUint(string(v[i+1:i+5]), 16, 32)
		if err != nil {
			continue
		}
		c := rune(n)
		i += 4
		if c >= 0xd800 && c < 0xdc00 && i+6 < len(v) && v[i+1] == '\\' && v[i+2] == 'u' {
			if low, err := strconv.ParseUint(string(v[i+3:i+7]), 16, 32); err == nil && low >= 0xdc00 && low < 0xe000 {
				c = (c-0xd800)<<10 + rune(low) - 0xdc00 + 0x10000
				i += 6
			}
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst
}
