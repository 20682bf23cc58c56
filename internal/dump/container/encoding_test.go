package container

import (
	"encoding/base64"
	"strings"
	"testing"
)

// encodingFormats are texts that are written in other bytes, or lines.
func encodingFormats(*testing.T) []subformat {
	const text = "nome;email;cpf\nMaria;maria@exemplo.com;529.982.247-25\nJose;jose@exemplo.com;111.444.777-35\n"
	wide := func(size int, big bool, text string) (b []byte) {
		for _, c := range text {
			unit := make([]byte, size)
			for k := range 2 {
				at := k
				if big {
					at = size - 1 - k
				}
				unit[at] = byte(c >> (8 * k))
			}
			b = append(b, unit...)
		}
		return b
	}
	plain := strings.Repeat("uma linha sem nada\n", 4000)
	return grouped("Encodings", []subformat{
		{name: "UTF-16", file: wide(2, false, text)},
		{name: "UTF-16, big end first", file: wide(2, true, text)},
		{name: "UTF-16, marked", file: wide(2, false, "\ufeff"+text)},
		{name: "UTF-16 after plain text", file: append([]byte(plain), wide(2, false, text)...)},
		{name: "UTF-32", file: wide(4, false, text)},
		{name: "UTF-32, big end first", file: wide(4, true, text)},
		{name: "UTF-32, marked", file: wide(4, false, "\ufeff"+text)},
		{name: "LDIF, folded", file: []byte("dn: uid=1\nmail: maria@exem\n plo.com\ndescription: CPF 529.982.\n " +
			"247-25\n")},
		{name: "LDIF, base64", file: []byte("dn: uid=1\nmail:: " +
			base64.StdEncoding.EncodeToString([]byte("maria@exemplo.com")) + "\ncpf: 52998224725\n")},
		{name: "vCard, folded", file: []byte("BEGIN:VCARD\r\nEMAIL:maria@ex\r\n emplo.com\r\nNOTE:529.982.247-\r\n " +
			"25\r\nEND:VCARD\r\n")},
		{
			name: "quoted-printable without mail",
			file: []byte("maria=40exemplo.com\n" + strings.Repeat("x", 62) + " 529.982.=\n247-25\n"),
		},
	})
}
