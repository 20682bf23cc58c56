package container

import "bytes"

// lockedFormats are encrypted as a whole, in ways for which passwords are not tried, or packed in a way that has gone
// out of use. They are reported by name, so that an operator does not take a file that was not searched for one without
// identifiers.
var lockedFormats = []*format{
	lockedFormat("encrypted with OpenSSL", startsWith("Salted__", "U2FsdGVkX1")),
	lockedFormat("encrypted with OpenPGP", startsWith("-----BEGIN PGP MESSAGE-----")),
	lockedFormat("encrypted with OpenPGP", isOpenPGP),
	lockedFormat("encrypted with age", startsWith("age-encryption.org/v1", "-----BEGIN AGE ENCRYPTED FILE-----")),
	lockedFormat("encrypted with Ansible Vault", startsWith("$ANSIBLE_VAULT;")),
	lockedFormat("encrypted: a LUKS volume", startsWith("LUKS\xba\xbe")),
	lockedFormat(
		"encrypted: a BitLocker volume",
		func(b []byte) bool { return len(b) > 11 && bytes.Equal(b[3:11], []byte("-FVE-FS-")) },
	),
	lockedFormat("encrypted: a KeePass database", startsWith("\x03\xd9\xa2\x9a")),
	lockedFormat(
		"encrypted with AES Crypt",
		func(b []byte) bool { return startsWith("AES")(b) && len(b) > 4 && b[3] <= 3 && b[4] == 0 },
	),
	lockedFormat("packed by compress (.Z)", startsWith("\x1f\x9d")),
}

// lockedFormat describes what is encrypted as a whole.
func lockedFormat(reason string, known func([]byte) bool) *format {
	return &format{name: reason, known: known, open: func(w *walker, l layer) error {
		w.noteSkip(l.name, reason, 0)
		return nil
	}}
}

// isOpenPGP knows the packets with which an encrypted message begins: a session key under a public key or a password.
func isOpenPGP(b []byte) bool {
	if len(b) < 16 || b[0]&0x80 == 0 {
		return false
	}
	var tag byte
	var body []byte
	length := 0
	if b[0]&0x40 != 0 { // the newer form
		if tag, length, body = b[0]&0x3f, int(b[1]), b[2:]; length >= 192 {
			length, body = (length-192)<<8+int(b[2])+192, b[3:]
		}
	} else {
		tag = b[0] >> 2 & 15
		switch b[0] & 3 {
		case 0:
			length, body = int(b[1]), b[2:]
		case 1:
			length, body = int(b[1])<<8|int(b[2]), b[3:]
		default:
			return false
		}
	}
	const publicKey, password = 1, 3
	switch tag {
	case publicKey: // version 3, key id, algorithm
		return body[0] == 3 && length > 60 && length < 2100 &&
			(body[9] >= 1 && body[9] <= 3 || body[9] >= 16 && body[9] <= 18)
	case password: // version 4, cipher, how the key is made
		return body[0] == 4 && body[1] >= 1 && body[1] <= 13 && length >= 4 && length < 60 &&
			(body[2] == 0 || body[2] == 1 || body[2] == 3)
	}
	return false
}
