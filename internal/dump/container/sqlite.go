package container

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
	"unicode/utf16"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
)

// sqliteFormat reads a database as tables, by code that expects the file to be hostile.
var sqliteFormat = document("SQLite", startsWith("SQLite format 3\x00"), func(d *source, out *text) error {
	db, err := newSQLite(d)
	if err != nil {
		return err
	}
	return db.writeTables(out)
})

// sqliteLogFormat is the write-ahead log beside a database, which holds what was written last: pages without the tables
// that they belong to.
var sqliteLogFormat = document(
	"SQLite write-ahead log",
	startsWith("\x37\x7f\x06\x82", "\x37\x7f\x06\x83"),
	func(d *source, out *text) error {
		var head [32]byte
		if err := readExactly(d, head[:], 0); err != nil {
			return err
		}
		db := &sqlite{d: d, size: int64(binary.BigEndian.Uint32(head[8:])), encoding: 1}
		if db.size < 512 || db.size > 1<<16 {
			return errDamaged
		}
		db.usable = int(db.size)
		for offset := int64(len(head)); offset+24 < d.size; offset += 24 + db.size {
			page := make([]byte, db.size)
			n, err := d.ReadAt(page, offset+24)
			if int64(n) < db.size && !errors.Is(err, io.EOF) {
				return err
			}
			start := 0
			if page[0] == 'S' {
				start = 100
			}
			if page[start] == sqliteLeaf {
				if err := db.writeLostLeaf(page, start, out); err != nil {
					return err
				}
			}
		}
		return nil
	},
)

const (
	sqliteInteriorIndex = 2
	sqliteInterior      = 5
	sqliteLeafIndex     = 10
	sqliteLeaf          = 13
)

// sqlite is a database file.
type sqlite struct {
	d        *source
	size     int64 // of a page
	usable   int   // bytes of it
	pages    int64
	encoding byte   // 1: UTF-8; 2, 3: UTF-16
	seen     []byte // a bit per page: none is read twice
	lost     error  // the first thing that could not be read
}

// sqliteTable is what a table's columns are called; rowid is the one that stands for the row's number, or -1.
type sqliteTable struct {
	columns []string
	rowid   int
}

// newSQLite reads the header of a database. It refuses page sizes that SQLite does not allow, as all offsets follow
// from them.
func newSQLite(d *source) (*sqlite, error) {
	var head [100]byte
	if err := readExactly(d, head[:], 0); err != nil {
		return nil, err
	}
	db := &sqlite{d: d, size: int64(binary.BigEndian.Uint16(head[16:])), encoding: head[59]}
	if db.size == 1 {
		db.size = 1 << 16
	}
	db.usable = int(db.size) - int(head[20])
	if db.size < 512 || db.size&(db.size-1) != 0 || db.usable < 480 {
		return nil, errDamaged
	}
	db.pages = (d.size + db.size - 1) / db.size
	db.seen = make([]byte, db.pages/8+1)
	return db, nil
}

func (db *sqlite) writeTables(out *text) error {
	type entry struct {
		root  int64
		table sqliteTable
		name  string
	}
	var tables []entry
	err := db.walkTree(1, 0, func(_ int64, values []any) error {
		if len(values) < 5 || fmt.Sprint(values[0]) != "table" {
			return nil
		}
		root, _ := values[3].(int64)
		sql, _ := values[4].(string)
		name, _ := values[1].(string)
		if len(tables) < 1<<16 {
			tables = append(tables, entry{root, sqliteColumns(sql), name})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.root < 2 || t.root > db.pages {
			continue
		}
		if err := t.table.writeHead(t.name, out); err != nil {
			return err
		}
		err := db.walkTree(
			t.root,
			0,
			func(rowid int64, values []any) error { return t.table.writeRow(rowid, values, out) },
		)
		if err != nil {
			return err
		}
	}
	return errors.Join(db.leftovers(out), db.lost)
}

// leftovers reads rows of pages that no table has any more, or that cannot be reached because a page above them is
// damaged.
func (db *sqlite) leftovers(out *text) error {
	for n := int64(1); n <= db.pages; n++ {
		if db.seen[n/8]>>(n%8)&1 == 1 {
			continue
		}
		page, start, err := db.readPage(n)
		if err != nil || page[start] != sqliteLeaf {
			continue
		}
		if err := db.writeLostLeaf(page, start, out); err != nil {
			return err
		}
	}
	return nil
}

// writeHead writes the names of the columns.
func (t sqliteTable) writeHead(name string, out *text) error {
	if err := out.writeLine([]byte("-- " + printableName(name))); err != nil {
		return err
	}
	for _, c := range t.columns {
		out.writeCell([]byte(c))
	}
	return out.endRow()
}

func (t sqliteTable) writeRow(rowid int64, values []any, out *text) error {
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			out.writeInteger(v)
		case float64:
			out.writeNumber(v)
		case string:
			out.writeCell([]byte(v))
		default:
			if i == t.rowid {
				out.writeInteger(rowid)
			} else {
				out.writeCell(nil)
			}
		}
	}
	return out.endRow()
}

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

// noteDamage remembers the first damage.
func (db *sqlite) noteDamage(err error) {
	db.lost = cmp.Or(db.lost, err)
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

// writeLostLeaf writes the rows of a page that belongs to no known table.
func (db *sqlite) writeLostLeaf(page []byte, start int, out *text) error {
	return db.readRows(page, start, func(rowid int64, values []any) error {
		return sqliteTable{rowid: -1}.writeRow(rowid, values, out)
	})
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

// parseRecord takes the values of a row apart: their kinds stand before them.
func (db *sqlite) parseRecord(b []byte) (values []any) {
	head, n := sqliteVarint(b, 0)
	if n == 0 || head < int64(n) || head > int64(len(b)) {
		if len(b) > 0 {
			db.noteDamage(errDamaged)
		}
		return nil
	}
	body := b[head:]
	for at := n; at < int(head); {
		kind, k := sqliteVarint(b[:head], at)
		if k == 0 {
			break
		}
		at += k
		size := sqliteSize(kind)
		if size < 0 || size > int64(len(body)) {
			if size = int64(len(body)); size == 0 || kind < 12 {
				break
			}
		}
		values = append(values, db.parseValue(kind, body[:size]))
		body = body[size:]
	}
	return values
}

// sqliteSize returns how many bytes a value of the given serial type takes in a record, or -1 for a type that does not
// exist.
func sqliteSize(kind int64) int64 {
	switch {
	case kind < 0:
		return -1
	case kind >= 12:
		return (kind - 12) / 2
	}
	return [12]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, -1, -1}[kind]
}

func (db *sqlite) parseValue(kind int64, b []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind <= 6:
		v := int64(int8(b[0]))
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		return v
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind == 8, kind == 9:
		return kind - 8
	case kind&1 == 0 && isBinary(b): // bytes that are no text
		return nil
	case kind&1 == 1 && db.encoding > 1:
		return wideText(b, db.encoding == 3)
	}
	return string(b)
}

// wideText reads UTF-16.
func wideText(b []byte, bigEndian bool) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		if units[i] = binary.LittleEndian.Uint16(b[2*i:]); bigEndian {
			units[i] = bits.ReverseBytes16(units[i])
		}
	}
	return string(utf16.Decode(units))
}

// sqliteVarint reads a number of up to nine bytes, and how many they were; none where the page ends.
func sqliteVarint(b []byte, at int) (v int64, n int) {
	for n < 9 {
		if at < 0 || at+n >= len(b) {
			return 0, 0
		}
		c := b[at+n]
		n++
		if n == 9 {
			return v<<8 | int64(c), n
		}
		if v = v<<7 | int64(c&0x7f); c < 0x80 {
			return v, n
		}
	}
	return v, n
}

// sqliteColumns reads the names of columns from the statement that made a table. What it does not understand it leaves
// out: names only help to tell what numbers are.
func sqliteColumns(sql string) sqliteTable {
	t := sqliteTable{rowid: -1}
	open := strings.IndexByte(sql, '(')
	if open < 0 || len(sql) > 1<<16 {
		return t
	}
	record.EachColumn([]byte(sql[open:]), func(name, rest []byte) {
		upper := bytes.ToUpper(bytes.TrimSpace(rest))
		switch strings.ToUpper(string(name)) {
		case "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT":
			return
		}
		if bytes.HasPrefix(upper, []byte("INTEGER")) && bytes.Contains(upper, []byte("PRIMARY KEY")) {
			t.rowid = len(t.columns)
		}
		t.columns = append(t.columns, string(name))
	})
	return t
}
