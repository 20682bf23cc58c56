package container

import "bytes"

// unreadable tells what begins like this apart from text, in plain words; a text gives none, and neither does what is
// known to hold no text, as pictures do.
func unreadable(head []byte) string {
	for _, k := range kinds {
		for _, m := range k.marks {
			if len(head) >= k.at+len(m) && string(head[k.at:k.at+len(m)]) == m {
				if k.name == "" {
					return ""
				}
				if isBinary(head) { // a text may begin with the same letters
					return k.name + ": only searched for plain text"
				}
			}
		}
	}
	if isBinary(head) {
		return "binary of an unknown kind: only searched for plain text"
	}
	return ""
}

// kinds are files that are no text and are not opened. Those without a name have nothing to be read.
var kinds = []struct {
	name  string
	at    int
	marks []string
}{
	{
		"",
		0,
		[]string{
			"\x89PNG",
			"\xff\xd8\xff",
			"GIF8",
			"BM",
			"\x00\x00\x01\x00",
			"II*\x00",
			"MM\x00*",
			"OggS",
			"ID3",
			"fLaC",
			"\x1aE\xdf\xa3",
		},
	},
	{
		"",
		0,
		[]string{
			"wOFF",
			"wOF2",
			"\x00\x01\x00\x00\x00",
			"OTTO",
			"ttcf",
			"\xff\xfb",
			"\xff\xf3",
			"FLV",
			"\x00\x00\x01\xba",
			"\x00\x00\x01\xb3",
		},
	},
	{"", 4, []string{"ftyp", "moov", "mdat"}},
	{"", 8, []string{"WEBP", "WAVE", "AVI "}},
	{"SQL Server backup", 0, []string{"MSSQLBAK", "TAPE"}},
	{"mailbox of Outlook", 0, []string{"!BDN"}},
	{"ORC table", 0, []string{"ORC"}},
	{"Access database", 4, []string{"Standard Jet DB", "Standard ACE DB"}},
	{"disk image", 0, []string{"KDMV", "QFI\xfb", "conectix", "vhdxfile"}},
	{"cabinet", 0, []string{"MSCF"}},
	{"HDF5 file", 0, []string{"\x89HDF"}},
	{"dBase table", 0, []string{"\xf5\xee\xff"}},
	{"program, whose contents 7z takes out if it unpacks itself", 0, []string{"MZ", "\x7fELF"}},
}

// isBinary reports whether bytes are no text in any usual encoding: text has hardly any control characters but line
// ends and tabs, and the zero bytes of wide characters lie in step.
func isBinary(head []byte) bool {
	if len(head) < 16 || bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return false
	}
	control := 0
	var zeros [4]int
	for i, c := range head {
		switch {
		case c == 0:
			zeros[i&3]++
			control++
		case c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b:
			control++
		}
	}
	quarter := len(head) / 4
	step := 0
	for _, n := range zeros {
		if n*4 > quarter*3 {
			step++
		}
	}
	if step == 2 || step == 3 { // two or four bytes a character
		return false
	}
	return control*20 > len(head)
}
