package password

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Import says what to import.
type Import struct {
	Algorithm Algorithm
	Inputs    []Input
	// Source is kept with the corpus and shown by Status.
	Source string
	// Force lets fewer hashes replace more; without it that is ErrSmaller, because it is usually the wrong file.
	Force bool
	// Progress, if set, is called now and then from one goroutine, and once at the end.
	Progress func(Progress)
}

// Progress is how far an import or a download has come.
type Progress struct {
	Done, Total int64  // bytes of an import as stored, ranges of a download; Total is 0 where it is not known
	Hashes      uint64 // hashes read so far
	Bytes       int64  // bytes read so far
}

const (
	// readSize is how much text is parsed at a time; no line of a corpus comes near it.
	readSize = 1 << 20
	// batches in flight let reading and parsing go on while the writer sorts and encodes.
	batchesInFlight = 3
)

// batch is the keys of one stretch of text.
type batch struct {
	keys, widely []uint64
}

// ImportCorpus replaces the corpus of an algorithm by the hashes of the inputs. A line that is not HASH or HASH:COUNT
// refuses the import: the error names the file and the line, and the corpus that was in force stays so.
func (l *Library) ImportCorpus(ctx context.Context, job Import) (Corpus, error) {
	if job.Source == SourceDefault {
		return Corpus{}, ErrInput.With("source", fault.NameOfSample, SourceDefault)
	}
	r, err := l.beginReplacement(job.Algorithm, job.Source)
	if err != nil {
		return Corpus{}, err
	}
	defer r.abandonFiles()
	if err := r.fillFromInputs(ctx, job); err != nil {
		return Corpus{}, err
	}
	r.mayShrink = job.Force
	return r.publishReplacement(ctx)
}

// fillFromInputs parses the inputs in one goroutine and feeds the writers in another.
func (r *replacement) fillFromInputs(ctx context.Context, job Import) error {
	im := &importer{
		algorithm: job.Algorithm,
		full:      make(chan batch, batchesInFlight),
		empty:     make(chan batch, batchesInFlight),
	}
	for range batchesInFlight {
		im.empty <- batch{}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(im.full)
		for _, in := range job.Inputs {
			if err := im.readInput(ctx, in); err != nil {
				return nameInput(in.Name, err)
			}
		}
		return nil
	})
	progress := Progress{}
	for _, in := range job.Inputs {
		progress.Total += in.Size
	}
	report := func() {
		if job.Progress != nil {
			progress.Bytes = im.bytes.Load()
			progress.Done = progress.Bytes
			job.Progress(progress)
		}
	}
	group.Go(func() error {
		for b := range im.full {
			if err := r.addHashKeys(b.keys, b.widely); err != nil {
				return err
			}
			progress.Hashes += uint64(len(b.keys))
			im.empty <- b
			report()
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	report()
	return nil
}

// nameInput says in which input an error happened. The name goes in the detail of a bad line, because that is what is
// shown.
func nameInput(name string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == ErrLine.Code {
		return f.In(name)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return ErrInput.Because(fmt.Errorf("%s: %w", name, err)).With("", fault.FileUnreadable, name)
}

// importer reads inputs and hands their keys over in batches.
type importer struct {
	algorithm Algorithm
	bytes     atomic.Int64 // read so far, as stored
	buf       []byte
	full      chan batch
	empty     chan batch
}

// meteredReader adds the bytes that are read to a count that other goroutines look at, for progress.
type meteredReader struct {
	source io.Reader
	count  *atomic.Int64
}

func (m meteredReader) Read(p []byte) (int, error) {
	n, err := m.source.Read(p)
	m.count.Add(int64(n))
	return n, err
}

// fillBuffer reads until p is full or r ends. Unlike io.ReadFull it returns io.EOF at the end of r, so that a packed
// stream that was cut off, for which decoders return io.ErrUnexpectedEOF, is told apart.
func fillBuffer(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// readInput reads one input, packed or not.
func (im *importer) readInput(ctx context.Context, in Input) error {
	packed, err := in.openInput()
	if err != nil {
		return err
	}
	defer packed.Close()
	text, err := unpackStream(in.Name, meteredReader{source: packed, count: &im.bytes})
	if err != nil {
		return err
	}
	return im.readHashLines(ctx, in.Name, text)
}

// readHashLines parses text, a buffer at a time; the line that a buffer cuts is moved to the front of the next.
func (im *importer) readHashLines(ctx context.Context, name string, text io.Reader) error {
	if im.buf == nil {
		im.buf = make([]byte, readSize)
	}
	var parser *lineParser
	kept := 0
	for last := false; !last; {
		n, err := fillBuffer(text, im.buf[kept:])
		last = err == io.EOF //nolint:errorlint // a reader ends with io.EOF itself; wrapped, it is a fault
		if err != nil && !last {
			return err
		}
		b := im.buf[:kept+n]
		if parser == nil {
			b = trimByteOrderMark(b)
			if parser, err = parserFor(im.algorithm, name, b); err != nil {
				return err
			}
		}
		rest, err := im.parseLines(ctx, parser, b, last)
		if err != nil {
			return err
		}
		if len(rest) == len(im.buf) {
			return ErrLine.With("", fault.LineIsLonger, parser.lines+1, readSize)
		}
		kept = copy(im.buf, rest)
	}
	return nil
}

// parseLines hands over the keys of the complete lines of b and returns what is left.
func (im *importer) parseLines(ctx context.Context, parser *lineParser, b []byte, last bool) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case out := <-im.empty:
		parser.keys, parser.widely = out.keys[:0], out.widely[:0]
	}
	n, err := parser.parseLines(b, last)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case im.full <- batch{parser.keys, parser.widely}:
		return b[n:], nil
	}
}

// Input is one text to import. Its name tells how it is packed (.gz, .zst, .xz) and, in folders of range files, the
// first five digits of its hashes.
type Input struct {
	Name string
	Size int64 // bytes as stored, for the time left; 0 if not known
	// Open opens the input; nil means that Name is the path of a file.
	Open func() (io.ReadCloser, error)
}

func (in Input) openInput() (io.ReadCloser, error) {
	if in.Open == nil {
		return os.Open(in.Name)
	}
	return in.Open()
}

// ListInputs lists the inputs that paths lead to: files as they are, folders with all files below them in order of
// their names.
func ListInputs(paths ...string) ([]Input, error) {
	var inputs []Input
	for _, root := range paths {
		found := len(inputs)
		if real, err := filepath.EvalSymlinks(root); err == nil { // the walk itself follows no links
			root = real
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || (path != root && strings.HasPrefix(d.Name(), ".")) {
				return err
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if info.IsDir() { // a link to a folder: following it could go in circles
				return nil
			}
			inputs = append(inputs, Input{Name: path, Size: info.Size()})
			return nil
		})
		if err != nil {
			return nil, ErrInput.Because(err).With("", fault.PathUnreadable)
		}
		if len(inputs) == found {
			return nil, ErrInput.With("", fault.FolderWithoutFiles)
		}
	}
	return inputs, nil
}

// mostUnpacking bounds the window of an input: more than any usual setting of a packer needs.
const mostUnpacking = 256 << 20

// unpackStream returns the text of a packed stream.
func unpackStream(name string, packed io.Reader) (io.Reader, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		z, err := gzip.NewReader(packed)
		return z, err
	case ".zst":
		return zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostUnpacking))
	case ".xz":
		return xz.NewReader(bufio.NewReaderSize(packed, 256<<10))
	}
	return packed, nil
}

// inputStem returns the name of an input without folders and endings: the first five digits of the hashes of a range
// file.
func inputStem(name string) string {
	s, _, _ := strings.Cut(filepath.Base(name), ".")
	return s
}

// parserFor looks at the first line and decides what the lines of an input hold: whole hashes, or hashes whose first
// five digits are the input's name.
func parserFor(a Algorithm, name string, head []byte) (*lineParser, error) {
	digits := 0
	for digits < len(head) && hexValues[head[digits]] <= 15 {
		digits++
	}
	if digits == a.hexDigits()-rangeDigits {
		prefix, ok := parseRange(inputStem(name))
		if !ok {
			return nil, ErrLine.With("", fault.FirstLineShort)
		}
		return rangeParser(a, prefix), nil
	}
	// Whatever else is wrong with the first line, the parser will say so.
	return &lineParser{digits: a.hexDigits(), taken: 40}, nil
}

// rangeParser reads the lines of a range file or answer.
func rangeParser(a Algorithm, prefix uint64) *lineParser {
	return &lineParser{digits: a.hexDigits() - rangeDigits, taken: 20, high: prefix << 20}
}

// rangeDigits is how many hex digits name a range.
const rangeDigits = 5

// parseRange parses the hex digits of a range's name; ok is false when the length or a digit is wrong.
func parseRange(s string) (prefix uint64, ok bool) {
	prefix, err := strconv.ParseUint(s, 16, 64)
	return prefix, err == nil && len(s) == rangeDigits
}

// byteOrderMark begins lists that were saved by an editor on Windows.
var byteOrderMark = []byte("\xef\xbb\xbf")

// trimByteOrderMark leaves out a byte order mark.
func trimByteOrderMark(b []byte) []byte { return bytes.TrimPrefix(b, byteOrderMark) }

// lineParser turns lines HASH or HASH:COUNT into keys: the first 40 bits of each hash. In range files the first five
// digits of the hash are the file's name and the lines hold the rest.
//
// Nearly every line of a corpus takes the fast path, which looks at eight characters at a time. Whatever it does not
// recognise at once goes through the slow path, which decides what is a bad line and says why.
type lineParser struct {
	digits int    // hex digits of a line's hash
	high   uint64 // bits that the file's name gives, in place
	taken  uint   // how many bits of the key the line gives: 40, or 20 in a range file
	lines  int    // complete lines read
	keys   []uint64
	widely []uint64 // those seen WidelySeen times or more
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	// slack is how far the fast path looks past a hash: colon, eight digits, line end, and a whole word beyond.
	slack = 20
)

// parseLines reads the complete lines at the front of b and returns how many bytes they take. With last set, b ends the
// file, and a line without a line end is complete too.
func (p *lineParser) parseLines(b []byte, last bool) (int, error) {
	at := 0
	for at < len(b) {
		at += p.parseFast(b[at:])
		line := b[at:]
		end := bytes.IndexByte(line, '\n')
		if len(line) == 0 || (end < 0 && !last) {
			break
		}
		used := len(line)
		if end >= 0 {
			line, used = line[:end], end+1
		}
		p.lines++
		if why := p.parseSlow(bytes.TrimSuffix(line, []byte("\r"))); why != nil {
			return at, ErrLine.With("", fault.OnLine, p.lines, why.Said())
		}
		at += used
	}
	return at, nil
}

// parseFast reads the well-formed lines at the front of b and returns how many bytes they take. It stops at the first
// line that is not plainly right, or too near to the end.
func (p *lineParser) parseFast(b []byte) int {
	n, at, lines, keys := p.digits, 0, 0, p.keys
	for at+n+slack <= len(b) {
		line := b[at:]
		// Five words cover hashes of 27, 32, 35 and 40 digits; in the shorter ones they overlap.
		first := binary.LittleEndian.Uint64(line)
		second, third := binary.LittleEndian.Uint64(line[8:]), binary.LittleEndian.Uint64(line[16:])
		fourth, fifth := binary.LittleEndian.Uint64(line[n-16:]), binary.LittleEndian.Uint64(line[n-8:])
		hex := hexDigits(first) & hexDigits(second) & hexDigits(third) & hexDigits(fourth) & hexDigits(fifth)
		if hex&^(first|second|third|fourth|fifth)&highs != highs {
			break
		}
		size, padding, wide := n, false, false
		if line[n] == ':' {
			digits := binary.LittleEndian.Uint64(line[n+1:])
			length := uint(bits.TrailingZeros64(nonDigitMask(digits)|1<<63)) >> 3
			if length == 0 || length > 7 {
				break
			}
			size = n + 1 + int(length)
			padding = digits<<(64-8*length)&(ones*0x0f) == 0
			wide = length > 3 && shortNumber(digits, length) >= WidelySeen
		}
		if line[size] == '\r' {
			size++
		}
		if line[size] != '\n' {
			break
		}
		at += size + 1
		lines++
		if padding {
			continue
		}
		key := parseHexWord(first)
		if p.taken == 40 {
			key = key<<8 | uint64(hexValues[second&0xff]<<4|hexValues[second>>8&0xff])
		} else {
			key = key>>12 | p.high
		}
		keys = append(keys, key)
		if wide {
			p.widely = append(p.widely, key)
		}
	}
	p.keys = keys
	p.lines += lines
	return at
}

// parseSlow reads one line without its end and returns what is wrong with it. It repeats nothing of the line.
func (p *lineParser) parseSlow(line []byte) *fault.Rule {
	if len(line) == 0 {
		return nil
	}
	if len(line) < p.digits {
		return &fault.ShortForAHash
	}
	var key uint64
	for i, c := range line[:p.digits] {
		v := hexValues[c]
		if v > 15 {
			return &fault.NotHexadecimal
		}
		if uint(i)*4 < p.taken {
			key = key<<4 | uint64(v)
		}
	}
	count := uint64(1)
	if rest := line[p.digits:]; len(rest) > 0 {
		if rest[0] != ':' {
			return &fault.NoColonAfterHash
		}
		var ok bool
		if count, ok = parseNumber(rest[1:]); !ok {
			return &fault.CountNotANumber
		}
	}
	if count > 0 { // zero marks the padding that the range service adds to hide the size of an answer
		p.keys = append(p.keys, key|p.high)
	}
	if count >= WidelySeen {
		p.widely = append(p.widely, key|p.high)
	}
	return nil
}

// parseNumber reads decimal digits; one too large to hold is held at the largest value.
func parseNumber(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+uint64(c-'0'), 1<<40)
	}
	return n, len(b) > 0
}

// nonDigitMask has the high bit set in each byte of w that is no decimal digit.
func nonDigitMask(w uint64) uint64 {
	v := w &^ highs
	return (^(v + ones*(0x80-'0')) | (v + ones*(0x7f-'9')) | w) & highs
}

// hexDigits has the high bit set in each byte of w that is a hex digit, provided that w has no high bit set itself.
func hexDigits(w uint64) uint64 {
	digit := (w + ones*(0x80-'0')) &^ (w + ones*(0x7f-'9'))
	w |= ones * 0x20
	return digit | (w+ones*(0x80-'a'))&^(w+ones*(0x7f-'f'))
}

// hexValues are the values of hexadecimal digits; 16 of any other byte.
var hexValues = func() (t [256]byte) {
	for c := range t {
		t[c] = 16
	}
	for v, c := range []byte("0123456789abcdef") {
		t[c] = byte(v)
	}
	for v, c := range []byte("ABCDEF") {
		t[c] = byte(10 + v)
	}
	return t
}()

// parseHexWord returns the value of the eight hex digits in w, the first one in its lowest byte.
func parseHexWord(w uint64) uint64 {
	w = w&(ones*0x0f) + (w>>6&ones)*9
	w = (w<<4 | w>>8) & 0x00ff00ff00ff00ff
	w = (w<<8 | w>>16) & 0x0000ffff0000ffff
	return (w<<16 | w>>32) & 0xffffffff
}

// shortNumber returns the value of the first length (1 to 7) decimal digits of w.
func shortNumber(w uint64, length uint) uint64 {
	w = w << (64 - 8*length) & (ones * 0x0f) // the digits that are missing in front become zeros
	w = w * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	w = w * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return w * (10000<<32 + 1) >> 32
}

// tagTable holds the entity tag of every range of a download, so that the next one can ask only for what changed. It
// says which corpus the tags belong to, and from which address they came.
type tagTable struct {
	Digest string   `json:"digest"`
	Base   string   `json:"base"`
	Tags   []string `json:"tags"`
}

// loadTags returns the tags that fit the corpus e from the address base, or none, as for a file that is damaged: then
// everything is fetched.
func (l *Library) loadTags(e entry, base string, ranges int) []string {
	if e.TagFile == "" {
		return nil
	}
	line, err := os.ReadFile(l.filePath(e.TagFile))
	var t tagTable
	if err != nil || !decodeLine(line, &t) || t.Digest != e.Digest || t.Base != base || len(t.Tags) != ranges {
		return nil
	}
	return t.Tags
}
