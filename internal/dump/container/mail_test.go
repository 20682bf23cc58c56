package container

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// TestFoldedHeadersAreReadOnce: a header of very many lines costs what its bytes cost, and not for each line what stands
// before it.
func TestFoldedHeadersAreReadOnce(t *testing.T) {
	const size = 1 << 20
	message := "Subject: a\n" + strings.Repeat(" x\n", size/3) + "Content-Transfer-Encoding: base64\n\nbWFyaWE=\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := &mailReader{in: bufio.NewReaderSize(strings.NewReader(message), 64<<10), header: true}
	var text strings.Builder
	for {
		line, err := m.nextText()
		text.Write(line)
		if errors.Is(err, io.EOF) || m.err != nil {
			break
		}
	}
	runtime.ReadMemStats(&after)
	if !strings.HasSuffix(text.String(), "maria") || m.body != base64Text {
		t.Errorf("the message ends with %q", text.String()[max(0, text.Len()-40):])
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64*size {
		t.Errorf("a header of %d bytes took %d bytes of memory in all", size, used)
	}
}
