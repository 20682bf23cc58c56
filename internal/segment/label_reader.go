package segment

import (
	"crypto/sha256"
	"slices"
)

// HasLabels reports whether the segment has labels.
func (r *Reader) HasLabels() bool { return r.code != nil }

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

// Labels returns the table; a LabelID of this Reader is a place in it. A segment without labels has a table of the empty
// label alone. The labels must not be changed.
func (r *Reader) Labels() ([][]byte, error) {
	if r.code == nil {
		return [][]byte{nil}, nil
	}
	if table := r.table.Load(); table != nil {
		return *table, nil
	}
	return nil, ErrSealed
}

// LabelBytes returns the label that an id stands for, which must not be changed. It is empty in a segment without labels.
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
		if at, found = pageFind(p, head, key-r.dir.first[i]); found {
			label = r.labelAt(p, head, at)
		}
		return true
	})
	return label, found && err == nil, err
}

// labelAt returns the label of key number at of a page.
func (r *Reader) labelAt(p *page, head pageHead, at uint) LabelID {
	if r.code == nil {
		return 0
	}
	return LabelID(r.code.placeOfLabel(p, head.labelsAt(), at))
}

// LookUpAll appends to dst those of probes that are in the set, with their labels, in the order of probes. Probes should
// be sorted, as for Intersect.
func (r *Reader) LookUpAll(dst []Entry, probes []uint64) ([]Entry, error) {
	err := r.findAll(probes, func(key uint64, p *page, head pageHead, at uint) {
		dst = append(dst, Entry{key, r.labelAt(p, head, at)})
	})
	return dst, err
}

// decodeEntries appends the entries of page i to dst, as decodePage does with keys.
func (r *Reader) decodeEntries(dst []Entry, room *entryRoom, i int) ([]Entry, error) {
	err := r.readPage(i, func(p *page, _ pageHead) (ok bool) {
		var end uint
		if room.keys, end, ok = decodeKeys(room.keys[:0], p, r.dir.first[i]); ok && r.code != nil {
			room.places, _, ok = r.code.decodePlaces(room.places[:0], p, end, uint(len(room.keys)))
		}
		return ok
	})
	if err != nil {
		return dst, err
	}
	for k, key := range room.keys {
		label := LabelID(0)
		if r.code != nil {
			label = LabelID(room.places[k])
		}
		dst = append(dst, Entry{key, label})
	}
	return dst, nil
}

// entryRoom is what decoding entries takes.
type entryRoom struct {
	keys   []uint64
	places []uint32
}

// Entries walks keys and labels in rising order of the keys. After an error, which comes with a zero entry, it ends.
func (r *Reader) Entries() func(yield func(Entry, error) bool) {
	return func(yield func(Entry, error) bool) {
		var entries []Entry
		var room entryRoom
		for i := range r.dir.first {
			var err error
			if entries, err = r.decodeEntries(entries[:0], &room, i); err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// labelledReader walks the records of a whole segment, with the ids that a writer's Labels have for its labels.
type labelledReader struct {
	*Reader
	ids     []uint64
	next    int
	entries []Entry
	room    entryRoom
	records []labelled
}

// nextRecords returns the records of the next page, with the ids of the file's labels translated to those of the
// writer; nil at the end. They are valid until the next call.
func (r *labelledReader) nextRecords() (_ []labelled, err error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	if r.entries, err = r.decodeEntries(r.entries[:0], &r.room, r.next); err != nil {
		return nil, err
	}
	r.next++
	r.records = r.records[:0]
	for _, e := range r.entries {
		r.records = append(r.records, labelled{e.Key, r.ids[e.Label]})
	}
	return r.records, nil
}
