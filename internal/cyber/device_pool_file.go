package cyber

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrPoolFile means that a file of vendor keys cannot be read as such.
var ErrPoolFile = fault.New(fault.Invalid, "pool.file_invalid")

// poolBatch is how many keys of a vendor's file are stored in one transaction.
const poolBatch = 500

// Loaded says how far a load has come.
type Loaded struct {
	// Read are keys of the file, New those that were not known before.
	Read, New int
}

// LoadKeyPool reads a vendor's file, one key a line, or a CSV whose column "key" (or else the first) holds the keys,
// and puts what is new into the system's pool. A column "expires" says when the vendor ends each key. It may be
// repeated: known keys are passed over, but for a date that they did not have. progress may be nil.
func (e *Endpoints) LoadKeyPool(
	ctx context.Context, system System, file io.Reader, progress func(Loaded),
) (Loaded, error) {
	var done Loaded
	rows := newPoolReader(file)
	batch := make([]VendorKey, 0, poolBatch)
	keep := func() error {
		n, err := e.store.LoadKeyPool(ctx, system, batch)
		if err != nil {
			return fmt.Errorf("load keys: %w", err)
		}
		done.Read, done.New, batch = done.Read+len(batch), done.New+n, batch[:0]
		if progress != nil {
			progress(done)
		}
		return nil
	}
	for {
		key, err := rows.readNextKey()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return done, err
		}
		if batch = append(batch, key); len(batch) == poolBatch {
			if err := keep(); err != nil {
				return done, err
			}
		}
	}
	if len(batch) > 0 {
		if err := keep(); err != nil {
			return done, err
		}
	}
	if done.Read == 0 {
		return done, ErrPoolFile.With("file", fault.NoKeysInIt)
	}
	return done, nil
}

// maxVendorKey is the most characters that an activation key of a vendor may have.
const maxVendorKey = 200

// poolReader reads a vendor's file key by key.
type poolReader struct {
	rows *csv.Reader
	// key and expires are the columns; -1 for one that is not known, or not there.
	key, expires int
}

// newPoolReader reads a CSV file of keys as spreadsheets write it: with or without a byte order mark, with any usual
// separator, and with rows of any length.
func newPoolReader(file io.Reader) *poolReader {
	text := withoutMark(file)
	rows := csv.NewReader(text)
	rows.Comma = detectSeparator(text)
	rows.FieldsPerRecord, rows.ReuseRecord, rows.TrimLeadingSpace = -1, true, true
	return &poolReader{rows: rows, key: -1, expires: -1}
}

// withoutMark skips the byte order mark that spreadsheets write.
func withoutMark(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if mark, err := b.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = b.Discard(3) // just seen by Peek
	}
	return b
}

// detectSeparator returns what divides the cells of the first line: where the comma is in numbers, as in Brazil,
// spreadsheets write semicolons.
func detectSeparator(text *bufio.Reader) rune {
	start, _ := text.Peek(1024) // a shorter file comes with an error, and whole
	first, _, _ := strings.Cut(string(start), "\n")
	if strings.Contains(first, ";") && !strings.Contains(first, ",") {
		return ';'
	}
	return ','
}

// readNextKey returns io.EOF after the last key.
func (r *poolReader) readNextKey() (VendorKey, error) {
	row, err := r.rows.Read()
	if err == nil && r.key < 0 && r.readHeading(row) {
		row, err = r.rows.Read()
	}
	if errors.Is(err, io.EOF) {
		return VendorKey{}, io.EOF
	}
	if err != nil {
		return VendorKey{}, ErrPoolFile.With("file", fault.NotAListOfKeys).Because(err)
	}
	line, _ := r.rows.FieldPos(0)
	if r.key >= len(row) || !partner.IsPrintable(strings.TrimSpace(row[r.key]), maxVendorKey) {
		return VendorKey{}, ErrPoolFile.With("", fault.KeyOnLine, line, maxVendorKey)
	}
	k := VendorKey{Key: strings.TrimSpace(row[r.key])}
	if r.expires < 0 || r.expires >= len(row) {
		return k, nil
	}
	if k.Expires, err = parseExpiry(strings.TrimSpace(row[r.expires])); err != nil {
		return VendorKey{}, ErrPoolFile.With("", fault.ExpiryOnLine, line)
	}
	return k, nil
}

// readHeading finds the columns in the first row, and tells whether that row is a heading at all.
func (r *poolReader) readHeading(row []string) bool {
	r.key = 0
	found := false
	for i, cell := range row {
		switch strings.ToLower(strings.TrimSpace(cell)) {
		case "key", "eppkey", "epp_key", "chave", "license", "licence", "activation_key":
			if !found {
				r.key, found = i, true
			}
		case "expires",
			"expires_at",
			"expiry",
			"expiry_date",
			"expiration",
			"expiration_date",
			"valid_until",
			"validade",
			"vencimento",
			"expira":
			r.expires = i
		}
	}
	if !found { // a first row without a heading for the keys is a key, whatever else it holds
		r.expires = -1
	}
	return found
}

// parseExpiry reads when a vendor ends a key. On a date the key still protects: it ends with that day, in Brazil.
func parseExpiry(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.DateOnly, "02/01/2006"} {
		if day, err := time.ParseInLocation(form, text, saoPaulo); err == nil {
			return day.AddDate(0, 0, 1).UTC(), nil
		}
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err
}
