package container

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

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

// noteDamage remembers the first damage.
func (db *sqlite) noteDamage(err error) {
	db.lost = cmp.Or(db.lost, err)
}

// writeLostLeaf writes the rows of a page that belongs to no known table.
func (db *sqlite) writeLostLeaf(page []byte, start int, out *text) error {
	return db.readRows(page, start, func(rowid int64, values []any) error {
		return sqliteTable{rowid: -1}.writeRow(rowid, values, out)
	})
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
