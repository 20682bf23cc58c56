package scan

import (
	"bytes"
	"encoding/base64"
)

// equals reads quoted-printable text and encoded words of mail.
func (v *view) equals(b []byte, i int, room *[]byte) int {
	rest := b[i+1:]
	if len(rest) == 0 {
		return 0
	}
	switch {
	case rest[0] == '?':
		return v.encodedWord(b, i, room)
	case rest[0] == '\n' || rest[0] == '\r' && len(rest) > 1 && rest[1] == '\n':
		start := bytes.LastIndexByte(b[max(0, i-quotedLine-1):i], '\n') + 1 + max(0, i-quotedLine-1)
		if i-start < quotedLine-16 || start == 0 && i > quotedLine {
			return 0
		}
		return v.putDecoded(i, i+1+bytes.IndexByte(rest, '\n')+1)
	}
	c, ok := hexRune(b, i+1, 2)
	if !ok || bytes.IndexByte([]byte("@.-_+="), byte(c)) < 0 || c > 0x7f ||
		c == '@' && (len(rest) < 3 || class[rest[2]]&letter == 0) {
		return 0 // width=40, cpf=402...
	}
	return v.putDecoded(i, i+3, byte(c))
}

// quotedLine is how long lines of quoted-printable text are at most.
const quotedLine = 76

// encodedWord reads =?utf-8?B?...?= and =?utf-8?Q?...?=.
func (v *view) encodedWord(b []byte, i int, room *[]byte) int {
	text := b[i+2 : min(len(b), i+200)]
	n := bytes.IndexByte(text, '?')
	if n < 1 || n > 20 || n+2 >= len(text) || text[n+2] != '?' {
		return 0
	}
	end := bytes.Index(text[n+3:], []byte("?="))
	if end < 0 {
		return 0
	}
	word, to := text[n+3:n+3+end], i+2+n+3+end+2
	if text[n+1]|0x20 == 'q' {
		*room = AppendUnquoted((*room)[:0], word)
	} else {
		plain, err := base64.StdEncoding.AppendDecode((*room)[:0], word)
		if err != nil {
			return 0
		}
		*room = plain
	}
	return v.putDecoded(i, to, *room...)
}

// attribute decodes the value of an LDIF attribute in base64, which may go on over lines.
func (v *view) attribute(b []byte, i int, room *[]byte) int {
	if i+3 >= len(b) || b[i+1] != ':' || b[i+2] != ' ' || i == 0 || class[b[i-1]]&letter == 0 {
		return 0
	}
	at := i + 3
	*room = (*room)[:0]
	for at < len(b) && len(*room) < margin {
		switch c := b[at]; {
		case wordByte[c] || c == '=':
			*room = append(*room, c)
			at++
			continue
		case c == '\r' && at+2 < len(b) && b[at+1] == '\n' && b[at+2] == ' ':
			at += 3
			continue
		case c == '\n' && at+1 < len(b) && b[at+1] == ' ':
			at += 2
			continue
		}
		break
	}
	plain, err := base64.StdEncoding.AppendDecode(nil, *room)
	if err != nil || !printable(plain) {
		return 0
	}
	v.text = append(v.text, ": "...)
	return v.putDecoded(i+3, at, plain...)
}
