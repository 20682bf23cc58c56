package segment

import (
	"context"
	"slices"
)

// Overlap is what a segment has in common with others.
type Overlap struct {
	Any  uint64   // keys that at least one of the others has
	Each []uint64 // keys that each of the others has, in their order
}

// CompareWith counts exactly how many keys of r are in each of the others and in any of them. It reads r page by page
// and looks the keys up in the others.
func (r *Reader) CompareWith(ctx context.Context, others []*Reader) (Overlap, error) {
	result := Overlap{Each: make([]uint64, len(others))}
	if slices.ContainsFunc(others, func(o *Reader) bool { return o.width != r.width }) {
		return result, ErrOption.Note("a segment of keys of another width")
	}
	if len(others) == 0 {
		return result, ctx.Err() // of the first breach nothing has to be read
	}
	var keys, common, known []uint64
	for page := range r.dir.first {
		err := ctx.Err()
		if err == nil {
			keys, err = r.decodePage(keys[:0], page)
		}
		known = known[:0]
		for i := 0; err == nil && i < len(others); i++ {
			common, err = others[i].Intersect(common[:0], keys)
			result.Each[i] += uint64(len(common))
			known = append(known, common...)
		}
		if err != nil {
			return result, err
		}
		slices.Sort(known)
		result.Any += uint64(len(slices.Compact(known)))
	}
	return result, nil
}
