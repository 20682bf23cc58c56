package container

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// parquetFile makes a table of a text that may be missing, a number and a list, packed by a codec.
func parquetFile(t *testing.T, codec compress.Codec) []byte {
	type row struct {
		Email *string  `parquet:"email"`
		CPF   int64    `parquet:"cpf,dict"`
		Tags  []string `parquet:"tags,list"`
	}
	email := "maria@exemplo.com"
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, parquet.Compression(codec))
	if _, err := w.Write([]row{{Email: &email, CPF: 52998224725, Tags: []string{"a", "b"}}, {}}); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return file.Bytes()
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
	zst := func(b []byte) []byte { return zstded(t, b) }
	return grouped("Tables", []subformat{
		{name: "Parquet", file: parquetFile(t, &parquet.Uncompressed)},
		{name: "Parquet, Snappy", file: parquetFile(t, &parquet.Snappy)},
		{name: "Parquet, gzip", file: parquetFile(t, &parquet.Gzip)},
		{name: "Parquet, Zstandard", file: parquetFile(t, &parquet.Zstd)},
		{name: "Parquet, Brotli", file: parquetFile(t, &parquet.Brotli)},
		{name: "Parquet, LZ4", file: parquetFile(t, &parquet.Lz4Raw)},
		{name: "Parquet, cut short", file: parquetFile(t, &parquet.Uncompressed)[:100], lost: "cut short"},
		{name: "Avro", file: avroFile("null", same)},
		{name: "Avro, Deflate", file: avroFile("deflate", func(b []byte) []byte { return deflated(t, b) })},
		{name: "Avro, Zstandard", file: avroFile("zstandard", zst)},
		{name: "Avro, Snappy", file: avroFile("snappy", func(b []byte) []byte {
			return binary.BigEndian.AppendUint32(snappy.Encode(nil, b), crc32.ChecksumIEEE(b))
		})},
		{name: "Avro, xz", file: avroFile("xz", func(b []byte) []byte { return xzed(t, b) }), lost: "unknown codec"},
	})
}
