package ppmd

import "encoding/binary"

// arena is the memory of a model: from its beginning on the latest text, then units of twelve bytes, of which those
// between low and high were never used. Places are counted from its beginning; 0 is none.
type arena struct {
	mem   []byte
	text  uint32 // end of the text
	units uint32 // the first unit
	low   uint32
	high  uint32

	free  [classes]uint32 // lists of free blocks, by their class
	freed [classes]uint32 // how many each has
	joins int             // how many more blocks are taken from the text before free ones are joined
}

const (
	unit    = 12
	classes = 38 // of blocks: 1 to 4 units, then in steps of 2, 3 and 4, to 128
	begin   = unit

	// vacant marks a free block, which also says the next of its list, and how many units it has. No context and no state
	// begins so.
	vacant = 1<<32 - 1
)

var (
	classUnits [classes]uint32
	unitsClass [129]uint8
)

func init() {
	n := 0
	for i := range classes {
		for range min(i/4+1, 4) {
			n++
			unitsClass[n] = uint8(i)
		}
		classUnits[i] = uint32(n)
	}
}

func classOf(units uint32) int { return int(unitsClass[units]) }

func (a *arena) get(at uint32) uint32    { return binary.LittleEndian.Uint32(a.mem[at:]) }
func (a *arena) put(at uint32, v uint32) { binary.LittleEndian.PutUint32(a.mem[at:], v) }

// clear empties the arena: an eighth is for text.
func (a *arena) clear() {
	size := uint32(len(a.mem)) - begin
	a.free, a.freed, a.joins = [classes]uint32{}, [classes]uint32{}, 0
	a.text = begin
	a.high = begin + size
	a.units = a.high - size/8/unit*7*unit
	a.low = a.units
}

func (a *arena) release(at uint32, class int) {
	a.put(at, vacant)
	a.put(at+4, a.free[class])
	a.put(at+8, classUnits[class])
	a.free[class] = at
	a.freed[class]++
}

func (a *arena) reuse(class int) uint32 {
	at := a.free[class]
	a.free[class] = a.get(at + 4)
	a.freed[class]--
	return at
}

// releaseUnits releases as many units as no class may have: as two blocks then.
func (a *arena) releaseUnits(at, n uint32) {
	class := classOf(n)
	if classUnits[class] != n {
		class--
		rest := classUnits[class]
		a.release(at+rest*unit, classOf(n-rest))
	}
	a.release(at, class)
}

// split releases the end of a block that is larger than needed.
func (a *arena) split(at uint32, from, to int) {
	a.releaseUnits(at+classUnits[to]*unit, classUnits[from]-classUnits[to])
}

// alloc gives a block, or 0 if there is none.
func (a *arena) alloc(class int) uint32 {
	if a.free[class] != 0 {
		return a.reuse(class)
	}
	if size := classUnits[class] * unit; size <= a.high-a.low {
		a.low += size
		return a.low - size
	}
	return a.allocRare(class)
}

// allocUnit gives one unit for a context: those come from the other end.
func (a *arena) allocUnit() uint32 {
	switch {
	case a.high != a.low:
		a.high -= unit
		return a.high
	case a.free[0] != 0:
		return a.reuse(0)
	}
	return a.allocRare(0)
}

func (a *arena) allocRare(class int) uint32 {
	if a.joins == 0 {
		a.join()
		if a.free[class] != 0 {
			return a.reuse(class)
		}
	}
	for larger := class + 1; larger < classes; larger++ {
		if a.free[larger] != 0 {
			at := a.reuse(larger)
			a.split(at, larger, class)
			return at
		}
	}
	a.joins--
	size := classUnits[class] * unit
	if a.units-a.text <= size {
		return 0
	}
	a.units -= size
	return a.units
}

// join makes one block of free ones that lie behind each other.
func (a *arena) join() {
	a.joins = 1 << 13
	a.freed = [classes]uint32{}
	if a.low != a.high {
		a.put(a.low, 0) // blocks up to there may be free
	}
	var head, tail uint32
	for class := range classes {
		for at := a.free[class]; at != 0; at = a.get(at + 4) {
			n := a.get(at + 8)
			if n == 0 { // is part of another now
				continue
			}
			if tail == 0 {
				head = at
			} else {
				a.put(tail+4, at)
			}
			tail = at
			for next := at + n*unit; a.get(next) == vacant; next = at + n*unit {
				n += a.get(next + 8)
				a.put(next+8, 0)
			}
			a.put(at+8, n)
		}
		a.free[class] = 0
	}
	if tail != 0 {
		a.put(tail+4, 0)
	}
	const most = 128
	for head != 0 {
		at := head
		head = a.get(at + 4)
		n := a.get(at + 8)
		if n == 0 {
			continue
		}
		for ; n > most; n -= most {
			a.release(at, classes-1)
			at += most * unit
		}
		a.releaseUnits(at, n)
	}
}

// shrink makes a block smaller, in another place if one is free.
func (a *arena) shrink(at, from, to uint32) uint32 {
	was, is := classOf(from), classOf(to)
	if was == is {
		return at
	}
	if a.free[is] != 0 {
		moved := a.reuse(is)
		copy(a.mem[moved:][:to*unit], a.mem[at:])
		a.release(at, was)
		return moved
	}
	a.split(at, was, is)
	return at
}

// releaseFirst releases a unit; the one behind the text becomes room for text.
func (a *arena) releaseFirst(at uint32) {
	if at == a.units {
		a.units += unit
		return
	}
	a.release(at, 0)
}

// up moves a block that lies near the text away from it, if one is free.
func (a *arena) up(at, n uint32) uint32 {
	class := classOf(n)
	const near = 16 << 10
	if at > a.units+near || at > a.free[class] {
		return at
	}
	moved := a.reuse(class)
	copy(a.mem[moved:][:n*unit], a.mem[at:])
	if at == a.units {
		a.units += classUnits[class] * unit
	} else {
		a.release(at, class)
	}
	return moved
}

// widen makes free blocks behind the text room for it.
func (a *arena) widen() {
	if a.low != a.high {
		a.put(a.low, 0)
	}
	var taken [classes]int
	for a.get(a.units) == vacant {
		n := a.get(a.units + 8)
		a.put(a.units, 0)
		taken[classOf(n)]++
		a.units += n * unit
	}
	for class := range classes {
		before := uint32(0)
		for at := a.free[class]; taken[class] > 0; at = a.get(at + 4) {
			if a.get(at) != 0 {
				before = at
				continue
			}
			taken[class]--
			a.freed[class]--
			if before == 0 {
				a.free[class] = a.get(at + 4)
			} else {
				a.put(before+4, a.get(at+4))
			}
		}
	}
}

// used is how much of the arena is taken.
func (a *arena) used() uint32 {
	n := uint32(0)
	for class, count := range a.freed {
		n += count * classUnits[class]
	}
	return uint32(len(a.mem)) - begin - (a.high - a.low) - (a.units - a.text) - n*unit
}
