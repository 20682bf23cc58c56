package container

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unicode/utf16"
)

// sevenZipAES is the number of 7z's encryption: AES-256 under a key that is hashed as often as the archive says.
const sevenZipAES = "06f10701"

// encrypted tells without making any key.
func (f *sevenZipFolder) encrypted() bool {
	for _, c := range f.coders {
		if fmt.Sprintf("%x", c.id) == sevenZipAES {
			return true
		}
	}
	return false
}

// sevenZipKeys makes the keys of one password.
type sevenZipKeys func(power byte, salt []byte) ([]byte, error)

// sevenZipUnlock finds the password under which a folder can be unpacked.
func (w *walker) sevenZipUnlock(o *folderOpener) (sevenZipKeys, error) {
	if w.keys == nil {
		w.keys = map[string][]byte{}
	}
	for _, password := range w.passwords() {
		keys := func(power byte, salt []byte) ([]byte, error) { return w.sevenZipKey(password, power, salt) }
		trial := *o
		grow, release := w.growing()
		trial.keys, trial.grow = keys, grow
		err := trial.fits()
		release()
		if errors.Is(err, errDerivations) || errors.Is(err, errMemory) || w.ctx.Err() != nil {
			return nil, err
		}
		if err == nil {
			w.fitted = password
			return keys, nil
		}
	}
	return nil, errEncrypted
}

// fits unpacks the first file of a folder, or the beginning of it, and holds it against its check sum.
func (o *folderOpener) fits() error {
	const tried = 4 << 20
	out := o.folder.output()
	r, err := o.output(out, 0)
	if err != nil || len(o.folder.streams) == 0 {
		return err
	}
	first := o.folder.streams[0]
	hash := crc32.NewIEEE()
	n, err := io.CopyN(hash, r, min(first.size, tried))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if o.exact && first.summed && n == first.size && hash.Sum32() != first.sum {
		return errSum
	}
	return nil
}

func (w *walker) sevenZipKey(password string, power byte, salt []byte) ([]byte, error) {
	id := fmt.Sprintf("%d %x %s", power, salt, password)
	if key, ok := w.keys[id]; ok {
		return key, nil
	}
	var secret []byte
	for _, u := range utf16.Encode([]rune(password)) {
		secret = binary.LittleEndian.AppendUint16(secret, u)
	}
	const plain = 0x3f // the password itself is the key
	if power == plain {
		key := make([]byte, 32)
		copy(key[copy(key, salt):], secret)
		return key, nil
	}
	if power > 40 {
		return nil, errDerivations
	}
	if err := w.derive(1 << power); err != nil {
		return nil, err
	}
	round := append(append([]byte{}, salt...), secret...)
	at := len(round)
	round = append(round, make([]byte, 8)...)
	hash := sha256.New()
	for i := range uint64(1) << power {
		if i&0xfffff == 0xfffff {
			if err := w.ctx.Err(); err != nil {
				return nil, err
			}
		}
		binary.LittleEndian.PutUint64(round[at:], i)
		_, _ = hash.Write(round) // a hash takes everything
	}
	w.keys[id] = hash.Sum(nil)
	return w.keys[id], nil
}

// decrypt reads power, salt and start vector from the properties.
func (o *folderOpener) decrypt(in io.Reader, p []byte, size int64) (io.Reader, error) {
	if len(p) < 1 || o.keys == nil {
		return nil, errEncrypted
	}
	power, salts, vectors := p[0]&0x3f, int(p[0]>>7), int(p[0]>>6&1)
	p = p[1:]
	if salts+vectors > 0 {
		if len(p) < 1 {
			return nil, errSevenZip
		}
		salts, vectors = salts+int(p[0]>>4), vectors+int(p[0]&15)
		p = p[1:]
	}
	if len(p) < salts+vectors || vectors > aes.BlockSize {
		return nil, errSevenZip
	}
	key, err := o.keys(power, p[:salts])
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	vector := make([]byte, aes.BlockSize)
	copy(vector, p[salts:][:vectors])
	return io.LimitReader(&chainedReader{in: in, mode: cipher.NewCBCDecrypter(block, vector)}, size), nil
}

// chainedReader undoes a cipher block by block.
type chainedReader struct {
	in   io.Reader
	mode cipher.BlockMode
	buf  [32 << 10]byte
	text []byte // what of buf was not taken yet
	err  error
}

func (c *chainedReader) Read(p []byte) (int, error) {
	for len(c.text) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		var n int
		n, c.err = fill(c.in, c.buf[:])
		n -= n % c.mode.BlockSize()
		c.mode.CryptBlocks(c.buf[:n], c.buf[:n])
		c.text = c.buf[:n]
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}
