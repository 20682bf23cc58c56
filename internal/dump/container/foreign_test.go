package container

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// foreignFormatsMade are those that another tool turns into text: the verdict names it.
func foreignFormatsMade(t *testing.T) []subformat {
	packed := zipped(t, "a.txt", secret)
	image := slices.Concat(make([]byte, 32<<10), []byte("\x01CD001\x01"), make([]byte, 2048), packed)
	program := slices.Concat([]byte("MZ"), bytes.Repeat([]byte{0x90, 0, 1}, 4000), packed)
	return grouped("For other tools", []subformat{
		{name: "Parquet", file: append([]byte("PAR1"), secret...), lost: "duckdb"},
		{name: "Avro", file: append([]byte("Obj\x01"), secret...), lost: "duckdb"},
		{name: "pg_dump -Fc", file: append([]byte("PGDMP\x01\x0e\x00"), secret...), lost: "pg_restore -f"},
		{name: "ISO 9660", file: image, lost: "7z"},
		{name: "self-extracting archives", file: program, lost: "7z"},
		{name: "32 KiB of nothing, then text", file: append(make([]byte, 40<<10), secret...), lost: "unknown kind"},
	})
}

// TestForeignMembersLeaveTheRest: what another tool has to turn into text is named, and what lies beside it in an archive
// is read.
func TestForeignMembersLeaveTheRest(t *testing.T) {
	for _, made := range foreignFormatsMade(t)[:5] {
		t.Run(made.name, func(t *testing.T) {
			archive := tarred(t, "a.txt", "ana@exemplo.com.br", "b.bin", string(made.file), "c.txt", "rui@exemplo.com.br")
			values, _, report, err := walked(bytes.NewReader(archive), Limits{})
			if err != nil || !slices.Contains(values, "email ana@exemplo.com.br") ||
				!slices.Contains(values, "email rui@exemplo.com.br") {
				t.Errorf("%q, %v", values, err)
			}
			if report.Skipped != 1 || !strings.Contains(report.Skips[0].Reason, made.lost) ||
				!strings.Contains(report.Skips[0].Name, "b.bin") {
				t.Errorf("%+v", report.Skips)
			}
		})
	}
}
