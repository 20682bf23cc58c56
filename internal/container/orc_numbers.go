package container

import "encoding/binary"

// orcNumbers reads whole numbers that runs were made of, in the older or the newer way.
func orcNumbers(b []byte, newer, signed bool, take func(int64) error) error {
	for len(b) > 0 {
		var err error
		if newer {
			b, err = orcRun(b, signed, take)
		} else {
			b, err = orcOldRun(b, signed, take)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// orcVarint reads a number of changing length.
func orcVarint(b []byte, signed bool) (v int64, rest []byte, err error) {
	u, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errORC
	}
	if signed {
		return unzigzag(u), b[n:], nil
	}
	return int64(u), b[n:], nil
}

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// orcOldRun reads a run of steps, or of numbers as they are.
func orcOldRun(b []byte, signed bool, take func(int64) error) ([]byte, error) {
	head := int(int8(b[0]))
	b = b[1:]
	if head < 0 {
		for range -head {
			v, rest, err := orcVarint(b, signed)
			if err != nil {
				return nil, err
			}
			if err := take(v); err != nil {
				return nil, err
			}
			b = rest
		}
		return b, nil
	}
	if len(b) == 0 {
		return nil, errORC
	}
	step := int64(int8(b[0]))
	v, rest, err := orcVarint(b[1:], signed)
	for range head + 3 {
		if err != nil {
			return nil, err
		}
		err = take(v)
		v += step
	}
	return rest, err
}

// orcRun reads a run of the newer way: repeated, as it is, with patches, or of steps.
func orcRun(b []byte, signed bool, take func(int64) error) ([]byte, error) {
	const repeated, direct, patched = 0, 1, 2
	kind := b[0] >> 6
	if kind == repeated {
		size, count := int(b[0]>>3&7)+1, int(b[0]&7)+3
		if len(b) < 1+size {
			return nil, errORC
		}
		v := orcValue(bigEndian(b[1:1+size]), signed)
		for range count {
			if err := take(v); err != nil {
				return nil, err
			}
		}
		return b[1+size:], nil
	}
	if len(b) < 2 {
		return nil, errORC
	}
	width, count := orcWidth(b[0]>>1&31), int(b[0]&1)<<8|int(b[1])+1
	switch kind {
	case direct:
		return orcPacked(b[2:], width, count, func(v uint64) error { return take(orcValue(v, signed)) })
	case patched:
		return orcPatched(b[2:], width, count, take)
	}
	if b[0]>>1&31 == 0 {
		width = 0
	}
	return orcSteps(b[2:], width, count, signed, take)
}

func orcValue(u uint64, signed bool) int64 {
	if signed {
		return unzigzag(u)
	}
	return int64(u)
}

func bigEndian(b []byte) (v uint64) {
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// orcWidth is how many bits a code stands for.
func orcWidth(code byte) int {
	if code < 24 {
		return int(code) + 1
	}
	return [...]int{26, 28, 30, 32, 40, 48, 56, 64}[code-24]
}

// orcPacked reads numbers of so many bits each.
func orcPacked(b []byte, width, count int, take func(uint64) error) ([]byte, error) {
	size := (width*count + 7) / 8
	if len(b) < size {
		return nil, errORC
	}
	at := 0
	for range count {
		v := uint64(0)
		for left := width; left > 0; {
			n := min(left, 8-at%8)
			v = v<<n | uint64(b[at/8]>>(8-at%8-n))&(1<<n-1)
			at, left = at+n, left-n
		}
		if err := take(v); err != nil {
			return nil, err
		}
	}
	return b[size:], nil
}

// orcPatched reads numbers above a base, the top bits of some of which stand apart.
func orcPatched(b []byte, width, count int, take func(int64) error) ([]byte, error) {
	if len(b) < 2 {
		return nil, errORC
	}
	size, patchWidth, gapWidth, patches := int(b[0]>>5)+1, orcWidth(b[0]&31), int(b[1]>>5)+1, int(b[1]&31)
	if b = b[2:]; len(b) < size {
		return nil, errORC
	}
	base := int64(bigEndian(b[:size]))
	if top := int64(1) << (8*size - 1); base&top != 0 {
		base = -(base &^ top)
	}
	values := make([]uint64, 0, count)
	b, err := orcPacked(b[size:], width, count, func(v uint64) error { values = append(values, v); return nil })
	if err != nil {
		return nil, err
	}
	at := 0
	b, err = orcPacked(b, closestWidth(patchWidth+gapWidth), patches, func(v uint64) error {
		at += int(v >> patchWidth & (1<<gapWidth - 1))
		if at < len(values) && width < 64 {
			values[at] |= v & (1<<patchWidth - 1) << width
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if err := take(base + int64(v)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// closestWidth is the least number of bits not under n that a code stands for.
func closestWidth(n int) int {
	for code := byte(0); code < 32; code++ {
		if w := orcWidth(code); w >= n {
			return w
		}
	}
	return 64
}

// orcSteps reads numbers by what each is more than the one before.
func orcSteps(b []byte, width, count int, signed bool, take func(int64) error) ([]byte, error) {
	v, b, err := orcVarint(b, signed)
	if err != nil {
		return nil, err
	}
	step, b, err := orcVarint(b, true)
	if err != nil {
		return nil, err
	}
	if err := take(v); err != nil || count == 1 {
		return b, err
	}
	v += step
	if err := take(v); err != nil {
		return nil, err
	}
	if width == 0 {
		for range count - 2 {
			v += step
			if err := take(v); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return orcPacked(b, width, count-2, func(u uint64) error {
		if step < 0 {
			v -= int64(u)
		} else {
			v += int64(u)
		}
		return take(v)
	})
}
