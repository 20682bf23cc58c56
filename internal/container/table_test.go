package container

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"testing"
)

// compact writes thrift's compact form: fields are pairs of a number and a value.
func compact(fields ...any) []byte {
	var b []byte
	last := 0
	for i := 0; i < len(fields); i += 2 {
		id := fields[i].(int)
		kind, value := compactValue(fields[i+1])
		b = append(append(b, byte(id-last)<<4|kind), value...)
		last = id
	}
	return append(b, 0)
}

type structure []byte

func compactValue(v any) (byte, []byte) {
	switch v := v.(type) {
	case int:
		return thriftI64, binary.AppendVarint(nil, int64(v))
	case string:
		return thriftBytes, append(binary.AppendUvarint(nil, uint64(len(v))), v...)
	case structure:
		return thriftStruct, v
	case []any:
		kind := byte(thriftStruct)
		var all []byte
		for _, e := range v {
			k, value := compactValue(e)
			kind, all = k, append(all, value...)
		}
		return thriftList, append([]byte{byte(len(v))<<4 | kind}, all...)
	}
	panic("not known")
}

// parquetFile makes a table of a text and a number, packed by a codec.
func parquetFile(codec int, pack func([]byte) []byte) []byte {
	file := []byte("PAR1")
	page := func(kind int, raw []byte, inner int, encoding int) (offset, size int) {
		offset = len(file)
		packed := pack(raw)
		file = append(file, compact(1, kind, 2, len(raw), 3, len(packed), inner, structure(compact(1, 1, 2, encoding)))...)
		file = append(file, packed...)
		return offset, len(file) - offset
	}
	text := "maria@exemplo.com"
	levels := []byte{2, 0, 0, 0, 2, 1} // one value that is there
	first, firstSize := page(0, append(append(levels, binary.LittleEndian.AppendUint32(nil, uint32(len(text)))...), text...), 5, 0)
	dict, dictSize := page(2, binary.LittleEndian.AppendUint64(nil, 52998224725), 7, 0)
	data, dataSize := page(0, []byte{1, 2, 0}, 5, 8)
	column := func(kind int, name string, fields ...any) structure {
		return structure(compact(3, structure(compact(append([]any{1, kind, 3, []any{name}, 4, codec}, fields...)...))))
	}
	foot := compact(
		2, []any{structure(compact(4, "row", 5, 2)), structure(compact(1, parquetBytes, 3, 1, 4, "email")), structure(compact(1, parquetInt64, 3, 0, 4, "cpf"))},
		3, 1, 4, []any{structure(compact(1, []any{
			column(parquetBytes, "email", 7, firstSize, 9, first), column(parquetInt64, "cpf", 7, dictSize+dataSize, 9, data, 11, dict),
		}))})
	file = append(file, foot...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(foot))), "PAR1"...)
}

// snappied keeps a text as one literal, which is Snappy too.
func snappied(text []byte) []byte {
	return append(append(binary.AppendUvarint(nil, uint64(len(text))), 61<<2, byte(len(text)-1), byte((len(text)-1)>>8)), text...)
}

func avroFile(codec string, pack func([]byte) []byte) []byte {
	long := func(b []byte, n int) []byte { return binary.AppendVarint(b, int64(n)) }
	words := func(b []byte, s string) []byte { return append(long(b, len(s)), s...) }
	schema := `{"type":"record","name":"r","fields":[{"name":"email","type":["null","string"]},{"name":"doc","type":{"type":"record","name":"d","fields":[{"name":"cpf","type":"long"}]}},{"name":"tags","type":{"type":"array","items":"string"}}]}`
	file := long([]byte("Obj\x01"), 2)
	file = words(words(file, "avro.schema"), schema)
	file = words(words(file, "avro.codec"), codec)
	mark := bytes.Repeat([]byte{7}, 16)
	file = append(long(file, 0), mark...)
	row := binary.AppendVarint(words(long(nil, 1), "maria@exemplo.com"), 52998224725)
	row = long(words(long(row, 1), "x"), 0)
	packed := pack(row)
	return append(append(long(long(file, 1), len(packed)), packed...), mark...)
}

func deflated(t *testing.T, b []byte) []byte {
	return compressed(t, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 9) }, b)
}

func tableFormats(t *testing.T) []subformat {
	same := func(b []byte) []byte { return b }
	zst, gz := func(b []byte) []byte { return zstded(t, b) }, func(b []byte) []byte { return gzipped(t, b) }
	brotli := parquetFile(4, same)
	return grouped("Tables", []subformat{
		{name: "Parquet", file: parquetFile(0, same)}, {name: "Parquet, Snappy", file: parquetFile(1, snappied)}, {name: "Parquet, gzip", file: parquetFile(2, gz)},
		{name: "Parquet, Zstandard", file: parquetFile(6, zst)}, {name: "Parquet, Brotli", file: brotli, lost: "codec 4"},
		{name: "Parquet, cut short", file: parquetFile(0, same)[:100], lost: "cut short"},
		{name: "Avro", file: avroFile("null", same)}, {name: "Avro, Deflate", file: avroFile("deflate", func(b []byte) []byte { return deflated(t, b) })}, {name: "Avro, Zstandard", file: avroFile("zstandard", zst)},
		{name: "Avro, Snappy", file: avroFile("snappy", func(b []byte) []byte { return append(snappied(b), 0, 0, 0, 0) })}, {name: "Avro, xz", file: avroFile("xz", func(b []byte) []byte { return xzed(t, b) })},
	})
}
