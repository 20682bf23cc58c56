package segment

import (
	"encoding/binary"
	"slices"
)

// labelTable is the labels of a segment in the order of their texts.
type labelTable struct {
	texts  []string
	places []uint32 // by the id that a record has
}

// tableOf makes the table of the labels that are used, which are told by their ids.
func (w *LabelWriter) tableOf(used []bool) labelTable {
	t, now := labelTable{places: make([]uint32, len(used))}, make([]string, len(used))
	for id, isUsed := range used {
		if isUsed {
			now[id] = w.labels.currentText(LabelID(id))
			t.texts = append(t.texts, now[id])
		}
	}
	slices.Sort(t.texts)
	if t.texts = slices.Compact(t.texts); len(t.texts) == 0 {
		t.texts = []string{""} // no keys: a table of the empty label
	}
	for id, text := range now {
		place, _ := slices.BinarySearch(t.texts, text)
		t.places[id] = uint32(place)
	}
	return t
}

// encodeTable returns the labels one after the other, each with its length before it.
func (t *labelTable) encodeTable() (b []byte) {
	for _, text := range t.texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// decodeTable reads what table wrote, which must be n labels.
func decodeTable(b []byte, n int) ([][]byte, error) {
	table := make([][]byte, 0, n)
	for len(b) > 0 {
		length, k := binary.Uvarint(b)
		if k <= 0 || length > uint64(len(b)-k) {
			break
		}
		end := k + int(length)
		table, b = append(table, b[k:end:end]), b[end:]
	}
	if len(b) > 0 || len(table) != n {
		return nil, ErrCorrupt.Note("labels: a table that cannot be")
	}
	return table, nil
}
