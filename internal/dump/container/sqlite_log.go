package container

import (
	"encoding/binary"
	"errors"
	"io"
)

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
