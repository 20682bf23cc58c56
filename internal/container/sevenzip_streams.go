package container

// streams reads the description of the packed streams.
func (h *sevenZipHeader) streams() {
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szPackInfo:
			h.packInfo()
		case szUnpackInfo:
			h.unpackInfo()
		case szSubStreams:
			h.subStreams()
		default:
			h.bad = true
		}
	}
}

func (h *sevenZipHeader) packInfo() {
	h.packedAt = h.number()
	h.packed = make([]int64, h.count())
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szSize:
			for i := range h.packed {
				h.packed[i] = h.number()
			}
		case szCRC:
			h.digests(len(h.packed), func(int, uint32) {})
		default:
			h.bad = true
		}
	}
}

func (h *sevenZipHeader) unpackInfo() {
	if h.next() != szFolder {
		h.bad = true
	}
	n := h.count()
	if h.next() != 0 { // folders kept elsewhere: no program does that
		h.bad = true
	}
	h.folders = nil
	streams := 0
	for i := 0; i < n && !h.bad; i++ {
		f := h.folder()
		f.first = streams
		streams += len(f.inputs)
		f.streams = []sevenZipStream{{}} // until told otherwise
		h.folders = append(h.folders, f)
	}
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szUnpackSize:
			for i := range h.folders {
				f := &h.folders[i]
				for j := range f.sizes {
					f.sizes[j] = h.number()
				}
				f.streams[0].size = f.size()
			}
		case szCRC:
			h.digests(len(h.folders), func(i int, sum uint32) {
				h.folders[i].streams[0].sum, h.folders[i].streams[0].summed = sum, true
			})
		default:
			h.bad = true
		}
	}
}

// folder reads one chain of coders.
func (h *sevenZipHeader) folder() (f sevenZipFolder) {
	const most = 32
	ins, outs := 0, 0
	for n := h.count(); n > 0 && !h.bad; n-- {
		flags := h.next()
		c := sevenZipCoder{id: h.bytes(int(flags & 0x0f)), ins: 1, outs: 1}
		if flags&0x10 != 0 {
			c.ins, c.outs = h.count(), h.count()
		}
		if flags&0x20 != 0 {
			c.properties = h.bytes(h.count())
		}
		ins, outs = ins+c.ins, outs+c.outs
		f.coders = append(f.coders, c)
		if ins > most || outs > most {
			h.bad = true
		}
	}
	if h.bad || outs == 0 || ins < outs-1 {
		h.bad = true
		return f
	}
	f.sizes = make([]int64, outs)
	f.bound = map[int]int{}
	for range outs - 1 {
		in, out := h.number(), h.number()
		if in >= int64(ins) || out >= int64(outs) {
			h.bad = true
			return f
		}
		f.bound[int(in)] = int(out)
	}
	for in := range ins {
		if _, taken := f.bound[in]; !taken {
			f.inputs = append(f.inputs, in)
		}
	}
	if len(f.inputs) > 1 {
		for i := range f.inputs {
			f.inputs[i] = int(min(h.number(), most))
		}
	}
	return f
}

// output is the one that no coder reads: the content. There is one, or -1.
func (f *sevenZipFolder) output() int {
	read := map[int]bool{}
	for _, out := range f.bound {
		read[out] = true
	}
	for out := range f.sizes {
		if !read[out] {
			return out
		}
	}
	return -1
}

func (f *sevenZipFolder) size() int64 {
	if out := f.output(); out >= 0 {
		return f.sizes[out]
	}
	return 0
}

// subStreams reads into how many files each folder is cut, and how long they are. The last one's length is what is
// left.
func (h *sevenZipHeader) subStreams() {
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szNumUnpackStream:
			total := 0
			for i := range h.folders {
				f := &h.folders[i]
				n := h.number()
				if total += int(min(n, 1<<30)); total > len(h.text)+len(h.folders) {
					h.bad = true // all but the last stream of a folder have their size written down
					return
				}
				if n != 1 {
					f.streams = make([]sevenZipStream, n)
				}
				h.lastStream(f)
			}
		case szSize:
			for i := range h.folders {
				f := &h.folders[i]
				for j := range len(f.streams) - 1 {
					f.streams[j].size = h.number()
				}
				h.lastStream(f)
			}
		case szCRC:
			h.streamDigests()
		default:
			h.bad = true
		}
	}
}

func (h *sevenZipHeader) lastStream(f *sevenZipFolder) {
	if len(f.streams) == 0 {
		return
	}
	left := f.size()
	for _, s := range f.streams[:len(f.streams)-1] {
		if left -= s.size; left < 0 {
			h.bad = true
			return
		}
	}
	f.streams[len(f.streams)-1].size = left
}

// streamDigests reads the sums of streams that have none yet: a folder of one stream may have told it.
func (h *sevenZipHeader) streamDigests() {
	var open []*sevenZipStream
	for i := range h.folders {
		for j := range h.folders[i].streams {
			if s := &h.folders[i].streams[j]; !s.summed {
				open = append(open, s)
			}
		}
	}
	h.digests(len(open), func(i int, sum uint32) { open[i].sum, open[i].summed = sum, true })
}
