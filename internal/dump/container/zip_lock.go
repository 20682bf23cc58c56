package container

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // the format of WinZip's encryption asks for it
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
)

// zipDecrypt finds the password of a file: one that passes the check and under which the text can be unpacked.
func (w *walker) zipDecrypt(e zipEntry, raw func() (io.Reader, error)) (io.Reader, error) {
	locked, err := newZipLock(&e)
	if err != nil {
		return nil, err
	}
	open := func(password string) (io.Reader, error) {
		in, err := raw()
		if err != nil {
			return nil, err
		}
		if in, err = locked.openLocked(in, password); err != nil {
			return nil, err
		}
		return e.unpackText(in)
	}
	password, err := w.findPassword(func(password string) bool {
		const tried = 1 << 20
		r, err := open(password)
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(r, tried))
		}
		return err == nil || errors.Is(err, io.ErrUnexpectedEOF)
	})
	if err != nil {
		return nil, err
	}
	return open(password)
}

// zipLock is the encryption of a file in a zip.
type zipLock struct {
	strength int // 1 to 3: AES of 128, 192, 256 bits; 0: the old cipher
	check    byte
	packed   int64
}

// newZipLock tells the encryption from what the zip says of the file, and puts the true method in its place.
func newZipLock(e *zipEntry) (*zipLock, error) {
	if e.flags&0x40 != 0 {
		return nil, errors.New("encrypted: in a way that is not read")
	}
	lock := &zipLock{check: e.check, packed: e.packed}
	if e.method != 99 {
		return lock, nil
	}
	body := e.extraField(0x9901)
	if len(body) < 7 || body[4] < 1 || body[4] > 3 {
		return nil, errDamaged
	}
	lock.strength = int(body[4])
	e.method = binary.LittleEndian.Uint16(body[5:])
	if binary.LittleEndian.Uint16(body) == 2 { // the sum is left out: the code at the end does its work
		e.sum = 0
	}
	return lock, nil
}

// zipRounds is the count of PBKDF2 that WinZip's AES encryption prescribes.
const zipRounds = 1000

// openLocked gives the packed text under a password, or errEncrypted where it is a wrong one.
func (z *zipLock) openLocked(in io.Reader, password string) (io.Reader, error) {
	if z.strength == 0 {
		return newZipCipher(in, password, z.check)
	}
	bytesOfKey := 8 * (z.strength + 1)
	start := make([]byte, bytesOfKey/2+2)
	if _, err := io.ReadFull(in, start); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	salt, check := start[:bytesOfKey/2], start[bytesOfKey/2:]
	keys, err := pbkdf2.Key(sha1.New, password, salt, zipRounds, 2*bytesOfKey+2)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(keys[2*bytesOfKey:], check) {
		return nil, errEncrypted
	}
	block, err := aes.NewCipher(keys[:bytesOfKey])
	if err != nil {
		return nil, err
	}
	left := z.packed - int64(len(start)) - 10
	if left < 0 {
		return nil, errDamaged
	}
	return &zipAES{in: in, left: left, block: block, mac: hmac.New(sha1.New, keys[bytesOfKey:2*bytesOfKey])}, nil
}

// zipAES counts in counter mode, as AES does here, from the lowest byte on.
type zipAES struct {
	in      io.Reader
	left    int64
	block   cipher.Block
	mac     hash.Hash
	counter uint64
	stream  [aes.BlockSize]byte
	used    int
}

func (z *zipAES) Read(p []byte) (int, error) {
	if z.left == 0 {
		var code [10]byte
		if _, err := io.ReadFull(z.in, code[:]); err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		if !bytes.Equal(z.mac.Sum(nil)[:10], code[:]) {
			return 0, errSum
		}
		z.left = -1
	}
	if z.left < 0 {
		return 0, io.EOF
	}
	n, err := z.in.Read(p[:min(int64(len(p)), z.left)])
	_, _ = z.mac.Write(p[:n]) // a hash takes everything
	for i := range p[:n] {
		if z.used == 0 {
			z.counter++
			var block [aes.BlockSize]byte
			binary.LittleEndian.PutUint64(block[:], z.counter)
			z.block.Encrypt(z.stream[:], block[:])
		}
		p[i] ^= z.stream[z.used]
		z.used = (z.used + 1) % aes.BlockSize
	}
	z.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if z.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// zipCipher is the cipher of the first zips.
type zipCipher struct {
	in   io.Reader
	keys [3]uint32
}

// newZipCipher returns a reader of the decrypted bytes, or errEncrypted if the password does not fit. The check has
// only one byte: one wrong password in 256 passes it.
func newZipCipher(in io.Reader, password string, check byte) (io.Reader, error) {
	z := &zipCipher{in: in, keys: [3]uint32{0x12345678, 0x23456789, 0x34567890}}
	for i := range len(password) {
		z.updateKeys(password[i])
	}
	var start [12]byte
	if _, err := io.ReadFull(z, start[:]); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if start[11] != check {
		return nil, errEncrypted
	}
	return z, nil
}

// updateKeys mixes a byte of the text into the keys.
func (z *zipCipher) updateKeys(c byte) {
	z.keys[0] = crc32.IEEETable[byte(z.keys[0])^c] ^ z.keys[0]>>8
	z.keys[1] = (z.keys[1]+z.keys[0]&0xff)*134775813 + 1
	z.keys[2] = crc32.IEEETable[byte(z.keys[2])^byte(z.keys[1]>>24)] ^ z.keys[2]>>8
}

func (z *zipCipher) Read(p []byte) (int, error) {
	n, err := z.in.Read(p)
	for i := range p[:n] {
		t := z.keys[2] | 2
		p[i] ^= byte(t * (t ^ 1) >> 8)
		z.updateKeys(p[i])
	}
	return n, err
}
