package container

import (
	"encoding/binary"
	"errors"
)

const (
	sqliteInteriorIndex = 2
	sqliteInterior      = 5
	sqliteLeafIndex     = 10
	sqliteLeaf          = 13
)

// readPage reads a page; its tree begins at start.
func (db *sqlite) readPage(n int64) (page []byte, start int, err error) {
	if n < 1 || n > db.pages {
		return nil, 0, errDamaged
	}
	page = make([]byte, db.size)
	if k, err := db.d.ReadAt(page, (n-1)*db.size); k == 0 {
		return nil, 0, cutShort(err)
	}
	if n == 1 {
		start = 100
	}
	return page, start, nil
}

// walkTree goes through the rows below a page. What is damaged is passed over and remembered.
func (db *sqlite) walkTree(n int64, depth int, row func(rowid int64, values []any) error) error {
	if n < 1 || n > db.pages || depth > 30 || db.seen[n/8]>>(n%8)&1 == 1 {
		db.noteDamage(errDamaged)
		return nil
	}
	db.seen[n/8] |= 1 << (n % 8)
	page, start, err := db.readPage(n)
	if err != nil {
		db.noteDamage(err)
		return nil
	}
	kind := page[start]
	switch kind {
	case sqliteLeaf, sqliteLeafIndex:
		return db.readRows(page, start, row)
	case sqliteInterior, sqliteInteriorIndex:
	default:
		db.noteDamage(errDamaged)
		return nil
	}
	for _, at := range db.cellOffsets(page, start, 12) {
		if at+4 > len(page) {
			db.noteDamage(errDamaged)
			continue
		}
		if err := db.walkTree(int64(binary.BigEndian.Uint32(page[at:])), depth+1, row); err != nil {
			return err
		}
		if kind == sqliteInteriorIndex { // rows of a table without numbers stand here too
			if err := db.readCell(page, at+4, false, row); err != nil {
				return err
			}
		}
	}
	return db.walkTree(int64(binary.BigEndian.Uint32(page[start+8:])), depth+1, row)
}

// cellOffsets returns the places of the cells of a page whose head has so many bytes.
func (db *sqlite) cellOffsets(page []byte, start, head int) []int {
	count := int(binary.BigEndian.Uint16(page[start+3:]))
	if list := start + head; list+2*count > len(page) {
		count = max(0, (len(page)-list)/2)
		db.noteDamage(errDamaged)
	}
	places := make([]int, count)
	for i := range places {
		places[i] = int(binary.BigEndian.Uint16(page[start+head+2*i:]))
	}
	return places
}

// readRows calls row for the rows of a leaf.
func (db *sqlite) readRows(page []byte, start int, row func(rowid int64, values []any) error) error {
	for _, at := range db.cellOffsets(page, start, 8) {
		if err := db.readCell(page, at, page[start] == sqliteLeaf, row); err != nil {
			return err
		}
	}
	return nil
}

// readCell reads a row of a leaf, or of an index b-tree without row numbers, as tables WITHOUT ROWID are stored. Damage
// is noted, and what could be read of the row is still handed on.
func (db *sqlite) readCell(page []byte, at int, isNumbered bool, row func(rowid int64, values []any) error) error {
	length, n := sqliteVarint(page, at)
	at += n
	rowid, k, most := int64(0), n, (db.usable-12)*64/255-23
	if isNumbered {
		rowid, k = sqliteVarint(page, at)
		at, most = at+k, db.usable-35
	}
	if n == 0 || k == 0 {
		db.noteDamage(errDamaged)
		return nil
	}
	payload, err := db.readPayload(page, at, length, most)
	if err != nil {
		db.noteDamage(err)
	}
	return row(rowid, db.parseRecord(payload))
}

// sqliteLongest is the longest row that is read.
const sqliteLongest = 16 << 20

// readPayload puts a row together from the page and the pages it flows over to. What is there comes with the error.
func (db *sqlite) readPayload(page []byte, at int, length int64, most int) ([]byte, error) {
	if length < 0 || at > len(page) {
		return nil, errDamaged
	}
	if length <= int64(most) {
		if at+int(length) > len(page) {
			return page[at:], errDamaged
		}
		return page[at:][:length], nil
	}
	least := (db.usable-12)*32/255 - 23
	local := least + int((length-int64(least))%int64(db.usable-4))
	if local > most {
		local = least
	}
	if at+local+4 > len(page) {
		return page[at:], errDamaged
	}
	text := append([]byte{}, page[at:][:local]...)
	next := int64(binary.BigEndian.Uint32(page[at+local:]))
	for int64(len(text)) < min(length, sqliteLongest) {
		if db.seen == nil { // a log: the pages it flows over to are elsewhere
			return text, nil
		}
		more, _, err := db.readPage(next)
		if err != nil || db.seen[next/8]>>(next%8)&1 == 1 {
			return text, errDamaged
		}
		db.seen[next/8] |= 1 << (next % 8)
		next = int64(binary.BigEndian.Uint32(more))
		text = append(text, more[4:min(db.usable, 4+int(min(length-int64(len(text)), 1<<20)))]...)
	}
	if length > sqliteLongest {
		return text, errors.New("a row of more than 16 MiB was read in part")
	}
	return text, nil
}
