package segment

import (
	"crypto/sha256"
	"slices"
)

// OpenLabels opens the table of labels by what undoes the writer's SealTable. It does nothing when the segment has none
// or they were opened before.
func (r *Reader) OpenLabels(open func(context, sealed []byte) ([]byte, error)) error {
	if r.code == nil || r.table.Load() != nil {
		return nil
	}
	context := sha256.Sum256(slices.Concat(r.dir.encodeDirectory(), r.note, r.code.encodeCode()))
	plain, err := open(context[:], r.sealed)
	if err != nil {
		return err
	}
	table, err := decodeTable(plain, r.code.labels)
	if err != nil {
		return err
	}
	r.table.Store(&table)
	return nil
}

// Labels returns the table; a LabelID of this Reader is a place in it. A segment without labels has a table of the
// empty label alone. The labels must not be changed.
func (r *Reader) Labels() ([][]byte, error) {
	if r.code == nil {
		return [][]byte{nil}, nil
	}
	if table := r.table.Load(); table != nil {
		return *table, nil
	}
	return nil, ErrSealed
}

// LabelBytes returns the label that an id stands for, which must not be changed. It is empty in a segment without
// labels.
func (r *Reader) LabelBytes(id LabelID) ([]byte, error) {
	table, err := r.Labels()
	if err != nil {
		return nil, err
	}
	if int(id) >= len(table) {
		return nil, ErrOption.Note("no label of this segment")
	}
	return table[id], nil
}

// LookUp reports whether key is in the set and with which label. It does not allocate.
func (r *Reader) LookUp(key uint64) (label LabelID, found bool, err error) {
	i := r.locatePage(key)
	if i < 0 {
		if r.mapped.Load() == nil {
			err = ErrClosed
		}
		return 0, false, err
	}
	err = r.readPage(i, func(p *page, head pageHead) bool {
		var at uint
		if at, found = pageFind(p, head, key-r.dir.first[i]); found && r.code != nil {
			label = LabelID(r.code.placeOfLabel(p, head.labelsAt(), at))
		}
		return true
	})
	return label, found && err == nil, err
}

// labelledReader walks the records of a whole segment, with the ids that a writer's Labels have for its labels.
type labelledReader struct {
	*Reader
	ids     []uint64
	next    int
	keys    []uint64
	places  []uint32
	records []labelled
}

// nextRecords returns the records of the next page, with the ids of the file's labels translated to those of the
// writer; nil at the end. They are valid until the next call.
func (r *labelledReader) nextRecords() ([]labelled, error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	err := r.readPage(r.next, func(p *page, _ pageHead) (ok bool) {
		var end uint
		if r.keys, end, ok = decodeKeys(r.keys[:0], p, r.dir.first[r.next]); ok && r.code != nil {
			r.places, _, ok = r.code.decodePlaces(r.places[:0], p, end, uint(len(r.keys)))
		}
		return ok
	})
	if err != nil {
		return nil, err
	}
	r.next++
	r.records = r.records[:0]
	for i, key := range r.keys {
		id := r.ids[0]
		if r.code != nil {
			id = r.ids[r.places[i]]
		}
		r.records = append(r.records, labelled{key, id})
	}
	return r.records, nil
}
