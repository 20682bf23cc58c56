package container

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Without a description of the columns, what stands before a record tells how long its texts are, but neither where they
// begin nor how many there are. Rows with the same empty columns have the same bytes between the same texts, though: the
// widths of those gaps are tried, and kept where texts come out in nearly all rows.

const (
	innodbGapMost   = 96
	innodbNullsMost = 6 // bytes that say which columns are empty
	innodbTextsMost = 64
	innodbEnough    = 3 // a third of a page in texts is taken for understood
)

// innodbRow is a record of a page, of which only its bytes are known.
type innodbRow struct {
	at, end int
	before  int   // the next length stands before this place
	from    int   // where the next column begins
	cells   []int // ends and beginnings of texts
}

// guess writes records by what they have in common.
func (t *innodbTable) guess(records []int) {
	if len(records) == 0 {
		return
	}
	top := int(binary.BigEndian.Uint16(t.page[40:]))
	if last := records[len(records)-1]; top <= last || top > len(t.page)-innodbTail {
		top = len(t.page) - innodbTail
	}
	best, covered := t.split(records, t.nulls, top)
	if most := top - records[0]; covered*innodbEnough < most { // not as on the page before
		for nulls := range innodbNullsMost + 1 {
			if rows, n := t.split(records, nulls, top); n > covered {
				best, covered, t.nulls = rows, n, nulls
			}
		}
	}
	numbers := t.innodbNumbers(best)
	for _, r := range best {
		t.row(r, numbers)
	}
}

// split finds the texts of records before which nulls bytes say what is empty, and how many bytes they cover.
func (t *innodbTable) split(records []int, nulls, top int) (rows []*innodbRow, covered int) {
	groups := map[string][]*innodbRow{}
	first := 0 // the gap before the first text of most rows, and one
	for i, at := range records {
		end := top
		if i+1 < len(records) {
			end = records[i+1] - 5
		}
		r := &innodbRow{at: at, end: end, from: at, before: at - 5 - nulls}
		rows = append(rows, r)
		if r.before > innodbData {
			key := string(t.page[r.before : at-5])
			groups[key] = append(groups[key], r)
		}
	}
	usual := -1
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(len(groups[b])-len(groups[a]), strings.Compare(a, b))
	}) {
		for i := range innodbTextsMost {
			gap, n := t.nextText(groups[key], usual)
			if n == 0 {
				break
			}
			if covered += n; i == 0 {
				first = cmp.Or(first, gap+1)
			}
			usual = -1
		}
		usual = first - 1
	}
	return rows, covered
}

// length is the next length of a row and how many bytes say it.
func (t *innodbTable) length(r *innodbRow) (n, width int) {
	if r.before-2 < innodbData {
		return -1, 0
	}
	n = int(t.page[r.before-1])
	const two, elsewhere = 0x80, 0x40
	if n&two == 0 {
		return n, 1
	}
	if n&elsewhere != 0 {
		return -1, 0
	}
	return n&0x3f<<8 | int(t.page[r.before-2]), 2
}

// nextText finds where the next texts of the rows of a group begin, and returns how many bytes they have. usual is the gap
// before the first text of other rows, or -1.
func (t *innodbTable) nextText(group []*innodbRow, usual int) (gap, covered int) {
	if gap = t.bestGap(group, usual); gap < 0 {
		return gap, 0
	}
	for _, r := range group {
		n, width := t.length(r)
		if n < 0 || r.from+gap+n > r.end {
			r.before = 0 // nothing more is known of it
			continue
		}
		r.cells = append(r.cells, r.from+gap, r.from+gap+n)
		r.from += gap + n
		r.before -= width
		covered += n
	}
	return gap, covered
}

// bestGap is the shortest gap behind which texts read well: in UTF-8, or else in bytes of other alphabets, as which a
// small number that stands before a text may pass too.
func (t *innodbTable) bestGap(group []*innodbRow, usual int) int {
	if usual >= 0 && t.fits(group, usual, readable) {
		return usual
	}
	for g := range innodbGapMost {
		if !t.fits(group, g, printableBytes) {
			continue
		}
		const numbers = 2
		for more := range numbers + 1 {
			if t.fits(group, g+more, readable) {
				return g + more
			}
		}
		return g
	}
	return -1
}

// fits says whether texts read well behind a gap: nearly all do, and before a good part of them stands no text.
func (t *innodbTable) fits(group []*innodbRow, gap int, reads func([]byte) bool) bool {
	right, wrong, edges := 0, 0, 0
	for _, r := range group {
		n, _ := t.length(r)
		from := r.from + gap
		switch {
		case n <= 0: // empty, or kept elsewhere
		case from+n > r.end || !reads(t.page[from:from+n]):
			if wrong++; wrong*20 > len(group) {
				return false
			}
		default:
			right++
			if gap == 0 && len(r.cells) > 0 || from == r.at || t.edge(from) {
				edges++
			}
		}
	}
	return right > 0 && wrong*20 <= right && edges*5 >= right*2
}

// edge says whether what stands before a place is no text.
func (t *innodbTable) edge(at int) bool {
	c := t.page[at-1]
	if c < utf8.RuneSelf {
		return !isPrintable(c)
	}
	r, _ := utf8.DecodeLastRune(t.page[at-4 : at])
	return r == utf8.RuneError
}

// innodbNumbers are the places behind texts where numbers of eight bytes are CPFs, row by row: which text, how far
// behind.
func (t *innodbTable) innodbNumbers(rows []*innodbRow) map[[2]int]bool {
	right, all := map[[2]int]map[uint64]bool{}, map[[2]int]int{}
	for _, r := range rows {
		t.gaps(r, func(i, from, end int) {
			for at := from; at+8 <= end && at-from < innodbGapMost; at++ {
				n, ok := t.cpfAt(at)
				if n == 0 {
					continue
				}
				key := [2]int{i, at - from}
				all[key]++
				if ok {
					if right[key] == nil {
						right[key] = map[uint64]bool{}
					}
					right[key][n] = true
				}
			}
		})
	}
	places := map[[2]int]bool{}
	const least = 3
	for key, values := range right {
		if len(values) >= least && len(values)*10 >= 7*all[key] {
			places[key] = true
		}
	}
	return places
}

// cpfAt reads a number as InnoDB keeps those with a sign and those without, and says whether it is a CPF.
func (t *innodbTable) cpfAt(at int) (uint64, bool) {
	n := binary.BigEndian.Uint64(t.page[at:]) &^ (1 << 63)
	return n, isCPF(n)
}

// isCPF says whether a number with its zeros in front is a CPF; smaller ones could be anything.
func isCPF(n uint64) bool {
	return n >= 1e8 && n < 1e11 && identifier.ValidCPF(fmt.Sprintf("%011d", n))
}

// gaps goes through what lies before, between and behind the texts of a row.
func (t *innodbTable) gaps(r *innodbRow, visit func(i, from, end int)) {
	from := r.at
	for i := 0; i < len(r.cells); i += 2 {
		visit(i/2, from, r.cells[i])
		from = r.cells[i+1]
	}
	visit(len(r.cells)/2, from, max(r.end, from))
}

func (t *innodbTable) row(r *innodbRow, numbers map[[2]int]bool) {
	t.gaps(r, func(i, from, end int) {
		rest := from
		for at := from; at+8 <= end; at++ {
			if numbers[[2]int{i, at - from}] {
				t.strings(rest, at)
				if n, ok := t.cpfAt(at); ok {
					t.out.cell(fmt.Appendf(nil, "%011d", n))
				}
				at += 7
				rest = at + 1
			}
		}
		t.strings(rest, end)
		if i < len(r.cells)/2 {
			t.out.cell(trimmed(t.page[r.cells[2*i]:r.cells[2*i+1]]))
		}
	})
	t.out.note(t.out.row())
}

func (t *innodbTable) strings(from, end int) {
	for _, s := range stringsIn(t.page[from:end]) {
		t.out.cell(trimmed(s))
	}
}
