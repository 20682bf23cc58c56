package segment

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"io"
)

// VerifyAll reads the whole file and checks everything: the checksum and the structure of each page, that keys rise
// from page to page, that there are as many as the footer says, and the digest of the file. It reads, rather than maps,
// so that it sees what is on the disk now and not what was right at first touch.
func (r *Reader) VerifyAll(ctx context.Context) error {
	if r.mapped.Load() == nil {
		return ErrClosed
	}
	if err := r.Unchanged(); err != nil {
		return err
	}
	sum := sha256.New()
	body := io.NewSectionReader(r.file, 0, r.foot.fileSize()-footerLen(r.foot.labelled))
	in := bufio.NewReaderSize(io.TeeReader(body, sum), writeBuffer)
	if _, err := io.CopyN(io.Discard, in, pageSize); err != nil {
		return unexpectedEnd(err)
	}
	if err := r.verifyPages(ctx, in); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if Digest(sum.Sum(nil)) != r.foot.digest {
		return ErrCorrupt.Note("file: wrong digest")
	}
	return r.Unchanged()
}

// verifyPages reads all pages and checks their sums, that each decodes to rising keys within its range, and that the
// number of keys and the last one are those of the footer.
func (r *Reader) verifyPages(ctx context.Context, in io.Reader) error {
	var (
		p     page
		keys  []uint64
		count uint64
		last  uint64
	)
	for i, first := range r.dir.first {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.ReadFull(in, p[:]); err != nil {
			return unexpectedEnd(err)
		}
		if checksum(p[:]) != r.dir.sum[i] {
			return ErrCorrupt.Note("page %d: wrong checksum", i)
		}
		if keys = r.verifyPage(keys[:0], &p, first); len(keys) == 0 {
			return ErrCorrupt.Note("page %d: does not decode", i)
		}
		count += uint64(len(keys))
		if last = keys[len(keys)-1]; last > r.lastKeyOf(i) {
			return ErrCorrupt.Note("page %d: reaches into the next", i)
		}
	}
	if count != r.foot.count || last != r.foot.last {
		return ErrCorrupt.Note("footer: %d keys, found %d, or another last key", r.foot.count, count)
	}
	return nil
}

// verifyPage decodes all of a page, labels included, and returns no keys when it does not decode.
func (r *Reader) verifyPage(keys []uint64, p *page, first uint64) []uint64 {
	keys, end, ok := decodeKeys(keys, p, first)
	if ok && r.code != nil {
		_, end, ok = r.code.decodePlaces(nil, p, end, uint(len(keys)))
	}
	if !ok || !zeroFrom(p, end) {
		return nil
	}
	return keys
}

// Unchanged compares the length and modification time of the file with those at Open and fails if they differ. This
// package never changes a segment in place; a caller that keeps a Reader open for long can find out with one system
// call that another program did.
func (r *Reader) Unchanged() error {
	now, err := r.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != r.stat.Size() || !now.ModTime().Equal(r.stat.ModTime()) {
		return ErrCorrupt.Note("the file was changed while open")
	}
	return nil
}

// unexpectedEnd returns ErrCorrupt for a file that ends too early, and any other error as it is.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCorrupt.Note("the file was cut while open")
	}
	return err
}
