package password

import (
	"bufio"
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	frequency "github.com/ccojocar/zxcvbn-go/data"
	"golang.org/x/crypto/md4" //nolint:staticcheck // NTLM is MD4; nothing here relies on its strength

	"github.com/vigiahq/vigia/internal/platform/job"
)

// brazilian is our own short list of passwords that are common in Brazil, one a line; the library's list is of English
// speakers.
//
//go:embed brazilian.txt
var brazilian string

// commonRank is how many of the library's passwords count as widely exposed. The list has no counts, but comes most
// frequent first. Our own list counts as widely exposed too.
const commonRank = 1000

// SourceDefault marks the corpus that EnsureDefault builds: a stopgap until a real one is imported.
const SourceDefault = "default"

// EnsureDefault makes a small corpus for every algorithm that has none, so that an empty machine answers truly about
// the most common passwords. It never touches a corpus that is there. ErrBusy says that a long import holds the
// library.
func (l *Library) EnsureDefault(ctx context.Context) error {
	m, err := l.readManifest()
	if err != nil {
		return err
	}
	for _, a := range Algorithms {
		if _, ok := m.Corpora[a.String()]; ok {
			continue
		}
		// Another process may be doing the same at this moment; it will not take long.
		err := l.importDefault(ctx, a)
		for try := 0; errors.Is(err, ErrBusy) && try < 10; try++ {
			if err := job.PauseStep(ctx, 200*time.Millisecond); err != nil {
				return err
			}
			err = l.importDefault(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// importDefault publishes the built-in list for an algorithm that has no corpus yet.
func (l *Library) importDefault(ctx context.Context, a Algorithm) error {
	r, err := l.beginReplacement(a, SourceDefault)
	if err != nil {
		return err
	}
	defer r.abandonFiles()
	if _, ok := r.manifest.Corpora[a.String()]; ok {
		return nil // another process made one before we had the lock
	}
	common, rest, err := commonPasswords()
	if err != nil {
		return err
	}
	var keys, widely []uint64
	for _, p := range common {
		widely = append(widely, keyOfPassword(a, p))
	}
	for _, p := range rest {
		keys = append(keys, keyOfPassword(a, p))
	}
	if err := r.addHashKeys(append(keys, widely...), widely); err != nil {
		return err
	}
	_, err = r.publishReplacement(ctx)
	return err
}

// commonPasswords returns the most common passwords and the less common ones.
func commonPasswords() (common, rest []string, err error) {
	text, err := frequency.Asset("data/Passwords.json")
	if err != nil {
		return nil, nil, fmt.Errorf("built-in password list: %w", err)
	}
	var list struct{ List []string }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, nil, fmt.Errorf("built-in password list: %w", err)
	}
	n := min(commonRank, len(list.List))
	common, rest = list.List[:n:n], list.List[n:]
	for lines := bufio.NewScanner(strings.NewReader(brazilian)); lines.Scan(); {
		common = append(common, lines.Text())
	}
	return common, rest, nil
}

// keyOfPassword returns the first 40 bits of the hash of a password.
func keyOfPassword(a Algorithm, password string) uint64 {
	var sum []byte
	if a == NTLM {
		h := md4.New()
		for _, u := range utf16.Encode([]rune(password)) {
			_ = binary.Write(h, binary.LittleEndian, u) // a hash never fails to write
		}
		sum = h.Sum(nil)
	} else {
		s := sha1.Sum([]byte(password))
		sum = s[:]
	}
	return binary.BigEndian.Uint64(sum) >> 24
}
