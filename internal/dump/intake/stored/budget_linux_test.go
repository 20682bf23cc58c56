package stored_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// lockedRAR is an archive whose key takes two to the power of so many rounds for each password that is tried.
func lockedRAR(power byte) []byte {
	lock := append([]byte{21, 4, 0, 0, 0, power}, make([]byte, 16)...)
	return bytes.Join([][]byte{
		[]byte("Rar!\x1a\x07\x01\x00"),
		binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(lock)),
		lock,
		bytes.Repeat([]byte{7}, 4096),
	}, nil)
}

// childrenTime returns the processor time of the processes that this one started and that have ended.
func childrenTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestSlowFileHoldsNothingUp: a file that goes on slowly for ever, so that nothing of it is ever without progress, is
// given up when it took what it may, and told of by name; what it held until then stays, and the next file is read.
func TestSlowFileHoldsNothingUp(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	v.Importer.Budget = reader.Budget{Base: 2 * time.Second, PerMiB: 50 * time.Millisecond}
	const size, most = 12 << 20, 2*time.Second + 12*100*time.Millisecond // each byte is read and unpacked
	members := [][]byte{[]byte("antes@exemplo.com.br\n")}
	for range 48 {
		members = append(members, lockedRAR(15), bytes.Repeat([]byte("nada\n"), size/48/5))
	}
	begin := childrenTime(t)
	out := v.Import(
		dumptest.MakeBreach("lento", cyber.SourceBreach, cyber.ExposedEmail),
		v.File("0.txt", "primeiro@exemplo.com.br\n"),
		v.File("a.zip", zipInOrder(t, members...)),
		v.File("b.txt", "depois@exemplo.com.br\n"),
	)
	const starts = 2 * time.Second // the readers that begin, and what they do until they are seen
	if took := childrenTime(t) - begin; took > most+starts {
		t.Errorf("the readers took %v of processor, more than %v", took, most+starts)
	}
	keys := v.keysOf(out.Record)
	for _, email := range []string{"primeiro@exemplo.com.br", "antes@exemplo.com.br", "depois@exemplo.com.br"} {
		if _, ok := slices.BinarySearch(keys, v.Keys.Fingerprint(byte(identifier.Email), []byte(email))); !ok {
			t.Errorf("%s is missing", email)
		}
	}
	const reason = "quarantined: it took more processor time than its unpacked size allows"
	if n := len(out.Skips); n == 0 || out.Skips[n-1].Reason != reason ||
		!strings.HasSuffix(out.Skips[n-1].Name, "a.zip") {
		t.Errorf("told %+v", out.Skips)
	}
	if y := out.Tally; y.Read != 2 || y.Partly != 1 || out.Quarantined() != 1 {
		t.Errorf("%+v", y)
	}
}
