package reader

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // what passwords are asked about by
	"encoding"
	"encoding/binary"
	"hash"

	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
)

// worker searches, and gathers what it finds in batches.
type worker struct {
	recorder *scan.Recorder
	out      *frameWriter
	batch    []byte // behind room for the head of its frame
	// last is the password of the record before, of which several identifiers come, and digest that of it.
	noPasswords bool
	last        []byte
	digest      uint64
	digests     digester
}

// digester digests passwords one after the other.
type digester struct {
	hash  hash.Hash
	block [sha1.BlockSize]byte
	room  [2 * sha1.BlockSize]byte
}

// digestPassword returns the first 40 bits of the SHA-1 of a password. One that fits a block is padded here and the
// hash's state is read after it, which takes a quarter less time than sha1.Sum does: digests are a tenth of importing a
// combo list.
func (d *digester) digestPassword(password []byte) uint64 {
	const padding = 9 // a mark and the length
	state, ok := d.hash.(encoding.BinaryAppender)
	if n := len(password); ok && n+padding <= len(d.block) {
		copy(d.block[:], password)
		d.block[n] = 0x80
		clear(d.block[n+1:])
		binary.BigEndian.PutUint16(d.block[len(d.block)-2:], uint16(8*n))
		d.hash.Reset()
		_, _ = d.hash.Write(d.block[:])                             // never fails
		if sum, err := state.AppendBinary(d.room[:0]); err == nil { // four bytes of magic, the sum so far, the rest
			return binary.BigEndian.Uint64(sum[4:]) >> 24
		}
	}
	sum := sha1.Sum(password) //nolint:gosec // see above
	return binary.BigEndian.Uint64(sum[:]) >> 24
}

// encodeSighting adds a sighting to the batch.
func (w *worker) encodeSighting(s *record.Sighting) {
	// A record stays in one batch, so that its identifiers stay together.
	if len(w.batch) >= batchSize && (s.First || len(w.batch) >= 4*batchSize) {
		w.flushBatch()
	}
	withPassword := len(s.Password) > 0 && !w.noPasswords
	if withPassword && !bytes.Equal(s.Password, w.last) {
		w.last, w.digest = append(w.last[:0], s.Password...), w.digests.digestPassword(s.Password)
	}
	w.batch = appendSighting(w.batch, s, w.digest, withPassword)
}

func (w *worker) flushBatch() {
	if len(w.batch) > frameHead {
		exitOnError(w.out.writeInPlace(factSightings, w.batch))
		w.batch = w.batch[:frameHead]
	}
}
