package container

import (
	"errors"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// parquetFormat reads tables of Parquet row by row, their columns by the paths of their names.
var parquetFormat = document("Parquet", startsWith("PAR1"), func(d *source, out *text) error {
	var mark [4]byte
	if err := readExactly(d, mark[:], d.size-4); err != nil {
		return err
	}
	switch string(mark[:]) {
	case "PARE":
		return errEncrypted
	case "PAR1":
	default:
		return errors.New("cut short: no table of contents")
	}
	table, err := parquet.OpenFile(d, d.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	columns := table.Schema().Columns()
	for _, path := range columns {
		out.writeCell([]byte(strings.Join(path, ".")))
	}
	if err := out.endRow(); err != nil {
		return err
	}
	for _, group := range table.RowGroups() {
		if err := writeParquetRows(group.Rows(), len(columns), out); err != nil {
			return err
		}
	}
	return nil
})

// writeParquetRows writes a line for each row. A column that repeats within a row has its values in one cell.
func writeParquetRows(rows parquet.Rows, columns int, out *text) error {
	defer func() { _ = rows.Close() }() // only read
	batch := make([]parquet.Row, 64)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			for column := range columns {
				for first := true; len(row) > 0 && row[0].Column() == column; row = row[1:] {
					if !first {
						out.writeRaw([]byte{' '})
						out.begun = false
					}
					writeParquetValue(row[0], out)
					first = false
				}
			}
			if err := out.endRow(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// writeParquetValue writes a value as a cell. Kinds that cannot hold an identifier give an empty cell, so that the
// columns behind them keep their place.
func writeParquetValue(v parquet.Value, out *text) {
	switch v.Kind() {
	case parquet.Int32:
		out.writeInteger(int64(v.Int32()))
	case parquet.Int64:
		out.writeInteger(v.Int64())
	case parquet.Float:
		out.writeNumber(float64(v.Float()))
	case parquet.Double:
		out.writeNumber(v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		out.writeCell(v.ByteArray())
	default: // nothing, a truth value, a time
		out.writeCell(nil)
	}
}
