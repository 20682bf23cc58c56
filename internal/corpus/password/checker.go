// Package password keeps the corpora of breached passwords and answers whether a password is in them.
//
// A corpus is the set of the first 40 bits of the hashes of all known breached passwords, one for SHA-1 and one for
// NTLM, with a second small set beside it of those seen very often. It comes from text files (Import), from a public
// range service (Download) or, on an empty machine, from a short built-in list (EnsureDefault).
//
// The package never sees a password or a whole hash of a person who asks: it is given 40 bits, and treats them as a
// password: they are in no error, no log line and no file. It knows nothing of HTTP answers or of sentences for people.
// The invariant it keeps: a corpus is replaced whole or not at all, and where the corpora cannot answer the answer is
// an error, never "not exposed".
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
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf16"

	frequency "github.com/ccojocar/zxcvbn-go/data"
	"golang.org/x/crypto/md4" //nolint:staticcheck // NTLM is MD4; nothing here relies on its strength

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// pollEvery is how often a Checker looks for a new corpus: well below the five seconds that we promise.
const pollEvery = time.Second

// Checker answers from the corpora in force and takes up new ones while it runs. It is safe for many goroutines.
type Checker struct {
	lib     *Library
	log     *slog.Logger
	current atomic.Pointer[snapshot]
	reload  sync.Mutex  // one reload at a time
	seen    os.FileInfo // the manifest that current was made from; guarded by reload
}

// snapshot is the open corpora of one manifest. It does not change, except that a corpus can turn out damaged.
type snapshot struct {
	corpora []*openCorpus
	broken  error // why a corpus that the manifest names could not be opened
	// imported is what an operator brought, every that and the built-in sample.
	imported, every view
}

// openCorpus is a corpus with its files open; it stays in use until a reload replaces it.
type openCorpus struct {
	entry     entry
	all, wide *segment.Reader
	damage    atomic.Pointer[error] // set once the files are known to be damaged
	stale     atomic.Bool           // the files changed on disk: they are opened, and their pages checked, anew
}

// NewChecker opens the corpora in force. Corpora that are missing or damaged are no error here: look-ups say so, and
// Health.
func NewChecker(lib *Library, log *slog.Logger) (*Checker, error) {
	c := &Checker{lib: lib, log: log}
	c.current.Store(&snapshot{})
	return c, c.ReloadCorpora()
}

// Run takes up new corpora until ctx ends.
func (c *Checker) Run(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			c.inspectFiles()
			if err := c.ReloadCorpora(); err != nil {
				c.log.Error("password corpora cannot be reloaded", "error", err)
			}
		}
	}
}

// ReloadCorpora takes up the corpora in force now. It is cheap when nothing changed.
func (c *Checker) ReloadCorpora() error {
	c.reload.Lock()
	defer c.reload.Unlock()
	info, err := os.Stat(c.lib.filePath(manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing imported yet
	}
	if err != nil {
		return err
	}
	isStale := slices.ContainsFunc(c.current.Load().corpora, func(o *openCorpus) bool { return o.stale.Load() })
	if c.seen != nil && os.SameFile(info, c.seen) && info.ModTime().Equal(c.seen.ModTime()) && !isStale {
		return nil
	}
	m, err := c.lib.readManifest()
	if err != nil {
		return err
	}
	old := c.current.Load()
	next := c.lib.openCorpora(m, old)
	c.seen = info
	if next.broken != nil {
		c.seen = nil // perhaps the manifest was replaced and its files removed since we read it: look again soon
	}
	c.current.Store(next)
	old.releaseReplaced(next)
	c.logChange(old, next)
	return nil
}

// logChange logs the corpora that a reload put in force, and a broken corpus once, not at every reload.
func (c *Checker) logChange(old, next *snapshot) {
	for _, o := range next.corpora {
		if old.corpusOf(o.entry.Algorithm) != o {
			c.log.Info(
				"password corpus in force",
				"algorithm",
				o.entry.Algorithm.String(),
				"entries",
				o.entry.Entries,
				"source",
				o.entry.Source,
			)
		}
	}
	if next.broken != nil && (old.broken == nil || old.broken.Error() != next.broken.Error()) {
		c.log.Error("a password corpus cannot be opened", "error", next.broken)
	}
}

// openCorpora opens the corpora of m. Those that old has open already are taken over; where a new one cannot be opened,
// the old one goes on serving.
func (l *Library) openCorpora(m manifest, old *snapshot) *snapshot {
	s := &snapshot{}
	for _, a := range Algorithms {
		e, ok := m.Corpora[a.String()]
		if !ok {
			continue
		}
		before := old.corpusOf(a)
		if before != nil && before.entry == e && !before.stale.Load() {
			s.corpora = append(s.corpora, before)
			continue
		}
		o, err := l.openCorpus(e)
		if err != nil {
			s.broken = errors.Join(s.broken, err)
			s.noteMissing(e, before, err)
			if before == nil {
				continue
			}
			o = before
		}
		s.corpora = append(s.corpora, o)
	}
	s.buildViews()
	return s
}

// openCorpus opens both files of a corpus or none.
func (l *Library) openCorpus(e entry) (*openCorpus, error) {
	all, err := l.openSegment(e.File, e.Digest)
	if err != nil {
		return nil, err
	}
	wide, err := l.openSegment(e.WideFile, e.WideDigest)
	if err != nil {
		_ = all.Close()
		return nil, err
	}
	return &openCorpus{entry: e, all: all, wide: wide}, nil
}

// corpusOf returns the open corpus of an algorithm, or nil.
func (s *snapshot) corpusOf(a Algorithm) *openCorpus {
	for _, o := range s.corpora {
		if o.entry.Algorithm == a {
			return o
		}
	}
	return nil
}

// releaseReplaced closes the corpora that next did not take over.
func (s *snapshot) releaseReplaced(next *snapshot) {
	for _, o := range s.corpora {
		if next.corpusOf(o.entry.Algorithm) != o {
			o.closeFiles()
		}
	}
}

// closeFiles lets go of the corpus's files.
func (o *openCorpus) closeFiles() {
	_ = o.all.Close()
	_ = o.wide.Close()
}

// Close lets go of the files.
func (c *Checker) Close() {
	c.reload.Lock()
	defer c.reload.Unlock()
	c.seen = nil
	c.current.Swap(&snapshot{}).releaseReplaced(&snapshot{})
}

// CheckPrefix returns how widely the password is exposed whose SHA-1 or NTLM hash starts with prefix: ten hex digits,
// in any case. Only where sample is true the built-in list counts as a corpus. The error is ErrPrefix, ErrNoCorpus or
// ErrUnreadable.
func (c *Checker) CheckPrefix(prefix string, sample bool) (Answer, error) {
	key, err := ParsePrefix(prefix)
	if err != nil {
		return Answer{}, err
	}
	for {
		s := c.current.Load()
		counted := &s.imported
		if sample {
			counted = &s.every
		}
		found, err := counted.checkKey(key)
		// A reload may close a snapshot between our taking it and our asking it: the next one is there already.
		if errors.Is(err, segment.ErrClosed) && c.current.Load() != s {
			continue
		}
		return found, err
	}
}

// checkKey returns how widely a key is exposed by this corpus.
func (o *openCorpus) checkKey(key uint64) (Exposure, error) {
	if damage := o.damage.Load(); damage != nil {
		return NotKnown, *damage
	}
	found, err := o.all.Contains(key)
	if err != nil || !found {
		return NotKnown, o.noteDamage(err)
	}
	widely, err := o.wide.Contains(key)
	if err != nil {
		return NotKnown, o.noteDamage(err)
	}
	if widely {
		return WidelyExposed, nil
	}
	return Exposed, nil
}

// noteDamage remembers damage: a corpus with one bad page is not trusted for the others, and Health reports it.
func (o *openCorpus) noteDamage(err error) error {
	if err != nil && errors.Is(err, segment.ErrCorrupt) {
		damage := err // a copy, so that the usual case does not allocate
		o.damage.CompareAndSwap(nil, &damage)
	}
	return err
}

// inspectFiles checks whether files of the corpora were changed in place by another program. Pages that were checked
// before can then no longer be trusted: the corpus answers nothing until the next Reload opens it anew.
func (c *Checker) inspectFiles() {
	for _, o := range c.current.Load().corpora {
		if err := errors.Join(o.all.Unchanged(), o.wide.Unchanged()); err != nil && o.damage.CompareAndSwap(nil, &err) {
			o.stale.Store(true)
			c.log.Error(
				"files of a password corpus were changed in place",
				"algorithm",
				o.entry.Algorithm.String(),
				"error",
				err,
			)
		}
	}
}

// CheckHealth is nil when every corpus that should be in force is, and can be read as far as is known.
func (c *Checker) CheckHealth() error {
	s := c.current.Load()
	if s.broken != nil {
		return ErrUnreadable.Because(s.broken)
	}
	for _, o := range s.corpora {
		if damage := o.damage.Load(); damage != nil {
			return ErrUnreadable.Because(*damage)
		}
	}
	if len(s.corpora) == 0 {
		return ErrNoCorpus
	}
	return nil
}

// brazilian is our own short list of passwords that are common in Brazil, one a line; the library's list is of English
// speakers.
//
//go:embed brazilian.txt
var brazilian string

// commonRank is how many of the library's passwords count as widely exposed. The list has no counts, but comes most
// frequent first. Our own list counts as widely exposed too.
const commonRank = 1000

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

// Algorithm is a hash function that passwords are listed under.
type Algorithm uint8

// The algorithms.
const (
	SHA1 Algorithm = iota + 1
	NTLM
)

// Algorithms lists all of them, in the order in which they are shown.
var Algorithms = [...]Algorithm{SHA1, NTLM}

// String returns the name of the algorithm in commands, file names and the manifest.
func (a Algorithm) String() string {
	switch a {
	case SHA1:
		return "sha1"
	case NTLM:
		return "ntlm"
	}
	return fmt.Sprintf("algorithm(%d)", uint8(a))
}

// ParseAlgorithm reads what String writes.
func ParseAlgorithm(s string) (Algorithm, error) {
	for _, a := range Algorithms {
		if s == a.String() {
			return a, nil
		}
	}
	return 0, ErrAlgorithm
}

// hexDigits returns the number of hex digits of a hash.
func (a Algorithm) hexDigits() int {
	if a == NTLM {
		return 32
	}
	return 40
}

// Exposure says how widely a password is known to have leaked.
type Exposure uint8

// The exposures.
const (
	NotKnown Exposure = iota
	Exposed
	WidelyExposed // seen WidelySeen times or more
)

// WidelySeen is how often a password must have been seen in breaches to count as widely exposed.
const WidelySeen = 1000

// String names the exposure.
func (e Exposure) String() string {
	return [...]string{"not_known", "exposed", "widely_exposed"}[min(e, WidelyExposed)]
}

// PrefixDigits is how many hex digits of a hash are asked about: 40 bits.
const PrefixDigits = 10

// Kinds of jobs.
const (
	KindImport   = "passwords.import"
	KindDownload = "passwords.download"
	KindVerify   = "passwords.verify"
)

// The faults of this package.
var (
	ErrAlgorithm   = fault.New(fault.Invalid, "password.algorithm")
	ErrPrefix      = fault.New(fault.Invalid, "password.prefix")
	ErrNoCorpus    = fault.New(fault.Unavailable, "password.no_corpus")
	ErrUnreadable  = fault.New(fault.Unavailable, "password.corpus_unreadable")
	ErrLine        = fault.New(fault.Invalid, "password.bad_line")
	ErrInput       = fault.New(fault.Invalid, "password.bad_input")
	ErrSmaller     = fault.New(fault.Conflict, "password.smaller_corpus")
	ErrBusy        = fault.New(fault.Conflict, "password.busy")
	ErrManifest    = fault.New(fault.Internal, "password.manifest")
	ErrRangeServer = fault.New(fault.Unavailable, "password.range_server")
)

// ParsePrefix reads the 40 bits of a prefix. The error does not repeat it.
func ParsePrefix(s string) (key uint64, err error) {
	if len(s) != PrefixDigits {
		return 0, ErrPrefix.With("", fault.HexadecimalLength, PrefixDigits)
	}
	if key, err = strconv.ParseUint(s, 16, 64); err != nil {
		return 0, ErrPrefix.With("", fault.OnlyHexadecimal)
	}
	return key, nil
}
