package container

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"strings"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// mailFormat is a message, or a mailbox of them. Their texts are decoded, their attachments opened.
var mailFormat = &format{name: "mail", known: scan.IsMessage, open: (*walker).walkMail}

// walkMail hands out the texts and attachments of messages.
func (w *walker) walkMail(l layer) error {
	m := &mailReader{in: bufio.NewReaderSize(l.r, 64<<10), header: true}
	for {
		m.attached = false
		if err := w.handEntry(Entry{Name: l.name, Depth: l.depth}, &textReader{next: m.nextText}); err != nil {
			return err
		}
		if !m.attached {
			return nil
		}
		if err := w.countFile(l.name); err != nil {
			return err
		}
		entry := entryName(l.name, m.name)
		r := &textReader{next: m.nextAttached}
		if err := w.openLayer(layer{name: entry, depth: l.depth + 1}, &meter{w: w, name: entry, r: r}); err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, r) // the next part begins where this one ends
	}
}

// mailEncoding is how the body of a message is encoded for transfer.
type mailEncoding uint8

const (
	unencoded mailEncoding = iota
	quotedPrintable
	base64Text
)

// mailReader reads the text of messages, with the encodings of headers and bodies undone. It stops where an attachment
// begins, and goes on behind it. It keeps no more of a message than a line and what its headers said.
type mailReader struct {
	in         *bufio.Reader
	header     bool // the lines being read are headers
	long       bool // the line being read began in the read before
	boundaries []string
	body       mailEncoding
	kind       string // of the part, as its header says
	name       string
	field      []byte // the header being read, with the lines that it goes on over
	carry      []byte // base64 that does not make three bytes yet
	attached   bool
	blank      bool // the line before was empty
	out        []byte
	err        error
}

// nextText returns what the next line says, and io.EOF where an attachment begins.
func (m *mailReader) nextText() ([]byte, error) {
	if m.err != nil || m.attached {
		return nil, cmp.Or(m.err, io.EOF)
	}
	var line []byte
	line, m.err = m.nextLine()
	m.out = m.appendLine(m.out[:0], line)
	if m.err != nil && m.header {
		m.endField()
	}
	return m.out, nil
}

// nextLine takes the next line, or a piece of one that is too long.
func (m *mailReader) nextLine() ([]byte, error) {
	line, err := m.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return line, err
}

// appendLine appends to dst what a line says.
func (m *mailReader) appendLine(dst, line []byte) []byte {
	text := bytes.TrimRight(line, "\r\n")
	continued := m.long
	m.long = len(line) > 0 && line[len(line)-1] != '\n'
	if !continued && m.isBorder(text) {
		m.header, m.body, m.kind, m.name = true, unencoded, "", ""
		m.carry = m.carry[:0]
		m.blank = false
		return append(dst, line...)
	}
	m.blank = len(text) == 0
	switch {
	case m.header && len(text) == 0 && len(line) > 0:
		m.endField()
		m.header = false
		m.attached = m.body == base64Text && (m.name != "" || !strings.HasPrefix(m.kind, "text/") && m.kind != "")
		return append(dst, line...)
	case m.header:
		return m.appendHeader(dst, line, text)
	case m.body == quotedPrintable:
		return scan.AppendUnquoted(dst, line)
	case m.body == base64Text:
		return m.appendBase64(dst, text)
	}
	return append(dst, line...)
}

// isBorder tells the lines between parts and messages.
func (m *mailReader) isBorder(text []byte) bool {
	if bytes.HasPrefix(text, []byte("From ")) && (m.blank || m.body == base64Text) {
		m.boundaries = m.boundaries[:0]
		return true
	}
	if !bytes.HasPrefix(text, []byte("--")) {
		return false
	}
	for _, b := range m.boundaries {
		if bytes.HasPrefix(text[2:], []byte(b)) {
			return true
		}
	}
	return m.body == base64Text // whatever it is, it is no base64
}

// fieldLongest bounds a header field of a message with its continuation lines.
const fieldLongest = 16 << 10

// appendHeader takes a line of a header and appends it with its encoded words undone.
func (m *mailReader) appendHeader(dst, line, text []byte) []byte {
	if len(text) > 0 && text[0] != ' ' && text[0] != '\t' {
		m.endField()
	}
	if len(m.field)+len(text) < fieldLongest {
		m.field = append(m.field, text...)
	}
	// Only the beginning is compared: a field goes on over as many lines as it has bytes.
	encoding := []byte("content-transfer-encoding:")
	if len(m.field) >= len(encoding) && bytes.EqualFold(m.field[:len(encoding)], encoding) {
		return dst // decoded here: the scanner must not decode the body again
	}
	if bytes.Contains(line, []byte("=?")) {
		var words mime.WordDecoder
		words.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
		if plain, err := words.DecodeHeader(string(line)); err == nil {
			return append(append(dst, plain...), '\n')
		}
	}
	return append(dst, line...)
}

// endField understands a header that is complete.
func (m *mailReader) endField() {
	name, value, ok := strings.Cut(string(m.field), ":")
	m.field = m.field[:0]
	if !ok {
		return
	}
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "content-transfer-encoding":
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "quoted-printable":
			m.body = quotedPrintable
		case "base64":
			m.body = base64Text
		}
	case "content-type":
		kind, parameters, err := mime.ParseMediaType(value)
		if err != nil && kind == "" {
			kind = strings.ToLower(strings.TrimSpace(strings.SplitN(value, ";", 2)[0]))
		}
		m.kind = kind
		if b := parameters["boundary"]; b != "" && len(m.boundaries) < 64 {
			m.boundaries = append(m.boundaries, b)
		}
		m.name = cmp.Or(parameters["name"], m.name)
	case "content-disposition":
		if _, parameters, err := mime.ParseMediaType(value); err == nil {
			m.name = cmp.Or(parameters["filename"], m.name)
		}
	}
}

// appendBase64 undoes base64 over the ends of lines.
func (m *mailReader) appendBase64(dst, text []byte) []byte {
	for _, c := range text {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
			m.carry = append(m.carry, c)
		}
	}
	whole := len(m.carry) - len(m.carry)%4
	for at := 0; at < whole; { // padding may stand in the middle, where texts were put together
		end := whole
		if i := bytes.IndexByte(m.carry[at:whole], '='); i >= 0 {
			end = min(whole, at+i-i%4+4)
		}
		room := base64.StdEncoding.AppendDecode
		if plain, err := room(dst, m.carry[at:end]); err == nil {
			dst = plain
		}
		at = end
	}
	m.carry = append(m.carry[:0], m.carry[whole:]...)
	return dst
}

// nextAttached returns what the next line of an attachment says, and io.EOF at the line that ends it.
func (m *mailReader) nextAttached() ([]byte, error) {
	if m.err != nil {
		if errors.Is(m.err, io.EOF) && len(m.boundaries) > 0 {
			return nil, io.ErrUnexpectedEOF // a part has a line that ends it
		}
		return nil, m.err
	}
	start, err := m.in.Peek(5)
	if bytes.HasPrefix(start, []byte("--")) || string(start) == "From " {
		m.body = unencoded
		m.blank = true
		return nil, io.EOF
	}
	if len(start) == 0 {
		m.err = err
		return nil, nil
	}
	var line []byte
	line, m.err = m.nextLine()
	m.out = m.appendBase64(m.out[:0], bytes.TrimRight(line, "\r\n"))
	return m.out, nil
}
