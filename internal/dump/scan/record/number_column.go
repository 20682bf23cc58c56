package record

import (
	"encoding/binary"
	"math"
	"slices"
)

// What a number is, its column tells: if nearly all numbers that stand in the same place of the records around have
// right check digits, or are phones by the numbering plan, then so is this one, however it is written; and if they are
// not, this one is so by chance. The numbers of each column are counted cell by cell, cells lie at multiples of their
// size from the beginning of the text, and a number is judged by the cell it stands in and the two beside it: so the
// result does not depend on where the text is cut.

const (
	// columnCell is how many bytes of text are counted together.
	columnCell = 4 << 10
	// columnReach is how far before a number its record may begin, for its place in it to be known.
	columnReach = 2 << 10
	// enoughNumbers may say that a column is none of a kind.
	enoughNumbers = 8
)

// tally counts the numbers of a column in a cell: those of one length, or all.
type tally struct {
	key                   uint64 // the cell and the column
	count, cpf, cnpj      uint16
	card, phone           uint16
	regular               uint16 // how often one is as much larger than the one before as that was
	phoneWeight           uint32
	last, step            uint32
	isJudged              bool
	isKind, isNot, allOne Kinds
}

// shapedBit is in the key of a tally of numbers whose spelling leaves no doubt. These are only asked where the others
// do not say enough.
const shapedBit = 0x80

// countNumber finds the column of a number and adds it to the tally of that.
func (r *Reader) countNumber(n *numeral, bit uint64) {
	place, name := r.columnPlace(int(n.from), int(n.to))
	n.name, n.tally = name, -1
	if place != 0 && kindsNamed(name)&n.can == 0 && (n.length == 11 || !name.ofThings()) { // else the name tells
		n.tally = r.tallyOf(uint64(r.base+int64(n.from))/columnCell<<40 | uint64(place)<<8 | bit | uint64(n.length))
		if !n.isApart {
			n.countInto(&r.tallies[n.tally], eightDigits(binary.LittleEndian.Uint64(r.b[max(0, n.to-8):])))
		}
	}
}

// decideNumbers tells of each number what it is by what was counted, and takes away what it is not.
func (r *Reader) decideNumbers() {
	r.sortNumbers()
	if r.disorder {
		slices.SortStableFunc(r.numbers, func(a, b hit) int { return int(a.from - b.from) })
	}
	i, kept := 0, 0
	var is, maybe, told Kinds
	last := hit{from: -1}
	for _, h := range r.numbers {
		if h.length&surveyed != 0 {
			if h.from != last.from || h.to != last.to {
				for r.found[i].from != h.from ||
					r.found[i].to != h.to { // both are in order, but for numbers of one beginning
					i = (i + 1) % len(r.found)
				}
				is, maybe, told = r.decideNumber(&r.found[i])
				last = h
			}
			bit := Kinds(1) << h.kind
			if (is|maybe)&bit == 0 {
				continue
			}
			if h.length &^= weak | surveyed; is&bit == 0 {
				h.length |= weak
			}
			h.surveyed = told&bit != 0
		}
		r.numbers[kept] = h
		kept++
	}
	r.numbers = r.numbers[:kept]
}

// tallyOf returns the index of a tally, which is made if there is none.
func (r *Reader) tallyOf(key uint64) int32 {
	at, ok := r.findTally(key)
	if !ok {
		at = int32(len(r.tallies))
		r.tallies = append(r.tallies, tally{key: key})
		r.tallyAt[key] = at
	}
	return at
}

// findTally returns the index of a tally, if there is one. Most are asked for again and again, and found without the
// map.
func (r *Reader) findTally(key uint64) (at int32, ok bool) {
	near := &r.tallyNear[(key*0x9e3779b97f4a7c15)>>(64-10)]
	if int(*near) < len(r.tallies) && r.tallies[*near].key == key {
		return *near, true
	}
	if at, ok = r.tallyAt[key]; ok {
		*near = at
	}
	return at, ok
}

// countInto adds the number, whose end has that value, to a tally. One that comes again and again counts once: a
// constant is no evidence.
func (k *numeral) countInto(t *tally, value uint32) {
	if value == t.last && t.count > 0 || t.count == math.MaxUint16 {
		return
	}
	if step := value - t.last; step == t.step {
		t.regular++
	} else {
		t.step = step
	}
	t.last = value
	t.count++
	switch {
	case k.can&CPFKind != 0:
		t.cpf++
	case k.can&PhoneKind != 0:
		t.phone++
		t.phoneWeight += uint32(k.weight)
	}
	if k.can&CNPJKind != 0 {
		t.cnpj++
	}
	if k.can&CardKind != 0 {
		t.card++
	}
}

// eightDigits returns the number that eight digits are.
func eightDigits(text uint64) uint32 {
	text -= '0' * 0x0101010101010101
	text = text*10 + text>>8
	return uint32((text&0x000000ff000000ff*(100+1000000<<32) + text>>16&0x000000ff000000ff*(1+10000<<32)) >> 32)
}

// judgeColumn tells what a column holds by the tallies of a cell and of those beside it: of numbers of one length, or
// of all where the key has none.
func (r *Reader) judgeColumn(at int32) *tally {
	t := &r.tallies[at]
	if t.isJudged {
		return t
	}
	var sum tally
	from, to := t.key&^shapedBit, t.key&^shapedBit
	if from&0xff == 0 {
		from, to = from+8, from+MostDigits
	}
	for key := from; key <= to; key++ {
		for _, cell := range [3]uint64{key - 1<<40, key, key + 1<<40} {
			sum.addCounted(r, cell)
			if t.key&shapedBit != 0 {
				sum.addCounted(r, cell|shapedBit)
			}
		}
	}
	t.isJudged = true
	count := int(sum.count)
	t.decideKind(CPFKind, int(sum.cpf), count-int(sum.cnpj), 4.6, int(sum.cpf+sum.cnpj)*10 >= count*9)
	t.decideKind(CNPJKind, int(sum.cnpj), count-int(sum.cpf), 4.6, int(sum.cpf+sum.cnpj)*10 >= count*9)
	t.decideKind(CardKind, int(sum.card), count, 2.3, int(sum.card)*10 >= count*9)
	if int(sum.regular)*2 >= count && count > 3 { // a counter
		t.isNot |= PhoneKind
	} else {
		t.decideKind(
			PhoneKind,
			int(sum.phone),
			count-int(sum.cpf),
			float64(sum.phoneWeight)/10/float64(max(1, sum.phone)),
			int(sum.phone+sum.cpf)*10 >= count*9,
		)
	}
	return t
}

// addCounted adds what was counted under a key.
func (t *tally) addCounted(r *Reader, key uint64) {
	if at, ok := r.findTally(key); ok {
		o := &r.tallies[at]
		t.count += o.count
		t.cpf += o.cpf
		t.cnpj += o.cnpj
		t.card += o.card
		t.phone += o.phone
		t.regular, t.phoneWeight = t.regular+o.regular, t.phoneWeight+o.phoneWeight
	}
}

// decideKind reports whether a column of n numbers of which k can be of a kind is one of that kind, or is not. weight
// is the logarithm of how many numbers are not of the kind for each that is by chance. Of those that can be, at most
// one in twenty may be so by chance, and all of it together must be no chance.
func (t *tally) decideKind(kind Kinds, k, n int, weight float64, isAll bool) {
	switch {
	case k == 0 || weight == 0:
		if n >= enoughNumbers {
			t.isNot |= kind
		}
		return
	case k < n && math.Exp(-weight)*float64(n-k) > 0.05*float64(k):
		if n >= enoughNumbers {
			t.isNot |= kind
		}
		return
	case k < n && evidence(k, n, weight) <= 6, k == n && weight*float64(k) <= 6:
		return
	}
	if t.isKind |= kind; isAll {
		t.allOne |= kind
	}
}

// evidence returns the logarithm of how much likelier it is that k of n numbers pass a test because they are what it
// asks for than that they do so by chance, given that of one number.
func evidence(k, n int, weight float64) float64 {
	share := float64(k) / float64(n)
	return float64(k)*(weight+math.Log(share)) + float64(n-k)*math.Log((1-share)/(1-math.Exp(-weight)))
}

// decideNumber tells what a number is, by the label before it, by its column, or by its digits alone where neither says
// a thing; what only the name of a column can still tell; and what its column said.
func (r *Reader) decideNumber(n *numeral) (is, maybe, told Kinds) {
	if named := kindsNamed(n.name) & n.can; named != 0 {
		return named, named, 0
	}
	is, maybe = n.exact, n.can
	if n.tally >= 0 {
		one, key := r.judgeColumn(n.tally), r.tallies[n.tally].key
		isNot := one.isNot
		told = n.can & one.isKind
		if left := n.can &^ isNot; told == 0 &&
			(left&^n.exact != 0 || left&(left-1) != 0) { // numbers of other lengths may tell more
			told = n.can & r.judgeColumn(r.tallyOf(key&^0xff)).allOne
			if told == 0 && (left&(left-1) != 0 || n.isApart) {
				end := (r.base+int64(n.from))/columnCell*columnCell + 2*columnCell
				for r.counted < len(r.shaped) && r.base+int64(r.shaped[r.counted].from) < end {
					r.countNumber(&r.shaped[r.counted], shapedBit)
					r.counted++
				}
				shaped := r.judgeColumn(r.tallyOf(key | shapedBit)).isKind
				shaped |= r.judgeColumn(r.tallyOf(key&^0xff | shapedBit)).allOne
				told = n.can & shaped
			}
		}
		if is = n.exact&^isNot | n.strict&^(isNot&CardKind); told != 0 {
			is, maybe = told, told
		}
	}
	if n.name.ofThings() {
		return told&CPFKind | n.strict&(CPFKind|PhoneKind), 0, told
	}
	return is, maybe, told
}

// kindsNamed returns what a number is that stands right behind a name.
func kindsNamed(c column) Kinds {
	switch c {
	case colCPF:
		return CPFKind | CNPJKind
	case colCNPJ:
		return CNPJKind
	case colPhone:
		return PhoneKind
	case colCard:
		return CardKind
	default:
		return 0
	}
}
