package feed

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // ranges are of SHA-1: six characters of it hide an address among many
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// hibpBreach is a breach as the account API tells it.
type hibpBreach struct {
	Name         string   `json:"Name"`
	Title        string   `json:"Title"`
	BreachDate   string   `json:"BreachDate"`
	DataClasses  []string `json:"DataClasses"`
	IsVerified   bool     `json:"IsVerified"`
	IsFabricated bool     `json:"IsFabricated"`
	IsSpamList   bool     `json:"IsSpamList"`
	IsMalware    bool     `json:"IsMalware"`
	IsStealerLog bool     `json:"IsStealerLog"`
	// IsSensitive marks a breach that only the owner of the address may be told of.
	IsSensitive bool `json:"IsSensitive"`
}

// hibpPlan is what the subscription of a key allows.
type hibpPlan struct {
	Rpm           int  `json:"Rpm"`
	IncludesKAnon bool `json:"IncludesKAnon"`
}

// hibpSuffix is one hash of a range, without its first six characters, and the breaches of its address.
type hibpSuffix struct {
	HashSuffix string   `json:"hashSuffix"`
	Websites   []string `json:"websites"`
}

// notInName finds what a breach's title has and its name here may not have.
var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// toBreach returns the breach in our words; false when it makes no sense.
func (h hibpBreach) toBreach(now time.Time) (cyber.Breach, bool) {
	day, err := leak.ParseBreachDay(h.BreachDate)
	b := cyber.Breach{
		Name: "hibp-" + strings.Trim(
			notInName.ReplaceAllString(strings.ToLower(h.Name), "-"),
			"-",
		),
		Title:      h.Title,
		Date:       day,
		Kind:       cyber.SourceBreach,
		Source:     "Have I Been Pwned",
		Verified:   h.IsVerified,
		Fabricated: h.IsFabricated,
		SpamList:   h.IsSpamList,
	}
	if h.IsStealerLog || h.IsMalware {
		b.Kind = cyber.SourceStealer
	}
	for _, class := range h.DataClasses {
		b.Exposes = append(b.Exposes, hibpClass(class))
	}
	return b, err == nil && len(b.Name) > len("hibp-") && leak.CheckBreach(&b, now) == nil
}

// hibpClasses are the words of the service for our classes.
var hibpClasses = []struct {
	word  string
	class cyber.Exposed
}{
	{"email address", cyber.ExposedEmail},
	{"password hint", cyber.ExposedOther},
	{"password", cyber.ExposedPassword},
	{"credit card", cyber.ExposedCard},
	{"phone", cyber.ExposedPhone},
	{"physical address", cyber.ExposedAddress},
	{"dates of birth", cyber.ExposedBirthDate},
	{"username", cyber.ExposedUsername},
	{"government issued", cyber.ExposedDocument},
	{"social security", cyber.ExposedDocument},
	{"passport", cyber.ExposedDocument},
	{"ip address", cyber.ExposedIP},
	{"health", cyber.ExposedHealth},
	{"medical", cyber.ExposedHealth},
	{"bank", cyber.ExposedFinancial},
	{"financial", cyber.ExposedFinancial},
	{"payment", cyber.ExposedFinancial},
	{"cookie", cyber.ExposedCookies},
	{"name", cyber.ExposedName},
}

// hibpClass returns the class of data for a class of Have I Been Pwned, by the words in its name; ExposedOther for
// those without a match.
func hibpClass(class string) cyber.Exposed {
	class = strings.ToLower(class)
	for _, c := range hibpClasses {
		if strings.Contains(class, c.word) {
			return c.class
		}
	}
	return cyber.ExposedOther
}

const (
	hibpPerMinute = 10 // of the smallest subscription
	// An answer by range has some 400 hashes with the names of their breaches.
	maxHIBPAnswer = 4 << 20
	maxCatalogue  = 64 << 20
	// hibpTries is how often one question is put when the service says to wait.
	hibpTries       = 5
	hibpLongestWait = 10 * time.Minute
)

// errAnswer is the failure of a feed whose service answers something else than its documentation says.
var errAnswer = errors.New("ask: the answer is not what the API promises")

// pacer spreads calls over the minute, for all who call at once. When the service says to wait, all of them do.
type pacer struct {
	mu   sync.Mutex
	gap  time.Duration
	held int // how often all had to wait
}

// newPacer returns a pacer that spaces calls evenly over each minute.
func newPacer(perMinute int) *pacer { return &pacer{gap: time.Minute / time.Duration(perMinute)} }

// waitTurn waits for the next call's time and says how often all had waited before it.
func (p *pacer) waitTurn(ctx context.Context) (held int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held, job.PauseStep(ctx, p.gap)
}

// holdAllTurns makes all wait, unless they have since the turn that was refused.
func (p *pacer) holdAllTurns(ctx context.Context, turn int, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != turn {
		return ctx.Err()
	}
	p.held++
	return job.PauseStep(ctx, d)
}

// fetchJSON asks the service and waits when told to. It says whether there was anything to tell.
func (s *hibpSweep) fetchJSON(ctx context.Context, path string, into any, most int64) (bool, error) {
	where := strings.TrimSuffix(s.f.Target, "/") + path
	for range hibpTries {
		turn, err := s.pace.waitTurn(ctx)
		if err != nil {
			return false, err
		}
		found, after, err := s.getJSONOnce(ctx, where, into, most)
		if err != nil || after == 0 {
			return found, err
		}
		if err := s.pace.holdAllTurns(ctx, turn, min(after, hibpLongestWait)); err != nil {
			return false, err
		}
	}
	return false, errors.New("ask: told to wait again and again")
}

// getJSONOnce asks once for an answer of at most most bytes; after is how long to wait before asking again, 0 when
// there is no need. A 404 is no error: nothing was found.
func (s *hibpSweep) getJSONOnce(
	ctx context.Context,
	where string,
	into any,
	most int64,
) (found bool, after time.Duration, err error) {
	status, header, text, err := s.fs.fetchAnswer(
		ctx,
		where,
		map[string]string{"hibp-api-key": s.f.Secret, "User-Agent": "vigia"},
		most,
	)
	if err != nil {
		return false, 0, fmt.Errorf("ask: %w", err)
	}
	switch status {
	case http.StatusOK:
		if int64(len(text)) > most {
			return false, 0, fmt.Errorf("ask: the answer is larger than %d bytes", most)
		}
		if err := json.Unmarshal(text, into); err != nil {
			return false, 0, errAnswer
		}
		return true, 0, nil
	case http.StatusNotFound:
		return false, 0, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return false, max(retryAfter(header, 2*time.Second), 10*time.Millisecond), nil
	}
	return false, 0, fmt.Errorf("ask: answered %d", status)
}

const (
	mostAtOnce = 64 // calls under way: 12,000 a minute with answers that take a third of a second
	walkBatch  = 1000
	settleMost = 200 // values of a partner that are settled in one transaction
	// prefixBytes of a hash are told to the service: six characters in hexadecimal.
	prefixBytes = 3
	// cells are equal parts of all hashes. A sweep that broke off goes on with the cell it was in.
	cells = 1 << 12
	// sliceMost is how many addresses are held in memory at once, some 15 MB.
	sliceMost = 1 << 17
)

// hibpSweep asks the account API about all watched e-mail addresses once, by the first characters of their hashes: some
// 400 other addresses share them, so the service does not learn which one is watched. It goes on where an earlier run
// stopped.
type hibpSweep struct {
	fs     *Feeds
	f      *Feed
	pace   *pacer
	atOnce int
	// known are breaches by the service's name for them; kept are those of ours that are in the store.
	known map[string]cyber.Breach
	kept  map[string]bool
}

// hashedEmail is a watched address by its hash.
type hashedEmail struct {
	hash    [sha1.Size]byte
	partner partner.ID
	asset   cyber.AssetID
}

// rangeCell returns the part of all hashes that this one lies in.
func (h *hashedEmail) rangeCell() int64 { return int64(h.hash[0])<<4 | int64(h.hash[1])>>4 }

// hashPrefix returns the beginning of the hash that the service is asked for.
func (h *hashedEmail) hashPrefix() [prefixBytes]byte { return [prefixBytes]byte(h.hash[:]) }

// newHIBPSweep makes a sweep that keeps to the feed's rate.
func (fs *Feeds) newHIBPSweep(f *Feed) *hibpSweep {
	s := &hibpSweep{fs: fs, f: f, known: map[string]cyber.Breach{}, kept: map[string]bool{}}
	s.setCallRate(f.Settings.PerMinute)
	return s
}

// sweepHIBP asks about every watched address, at the rate that the key allows, and begins again when it is through.
func (fs *Feeds) sweepHIBP(ctx context.Context, f *Feed) error {
	s := fs.newHIBPSweep(f)
	if f.Secret == "" {
		return s.keepCatalogue(ctx)
	}
	if err := s.readPlan(ctx); err != nil {
		return err
	}
	for f.State.Cell < cells {
		emails, end, err := s.readEmails(ctx, f.State.Cell)
		if err != nil {
			return err
		}
		for len(emails) > 0 {
			f.State.Cell = emails[0].rangeCell()
			n := 1
			for n < len(emails) && emails[n].rangeCell() == f.State.Cell {
				n++
			}
			if err := s.askSharedRange(ctx, emails[:n]); err != nil {
				return err
			}
			emails = emails[n:]
			f.State.Cell, f.State.Items = f.State.Cell+1, f.State.Items+int64(n)
			if err := s.saveState(ctx); err != nil {
				return err
			}
		}
		f.State.Cell = end
	}
	f.State.Cell = 0
	return nil
}

// setCallRate keeps to a rate; zero is the smallest there is.
func (s *hibpSweep) setCallRate(perMinute int) {
	if perMinute <= 0 {
		perMinute = hibpPerMinute
	}
	s.pace, s.atOnce = newPacer(perMinute), min(max(1, perMinute/100), mostAtOnce)
}

// readPlan asks what the key allows, and for the catalogue of breaches.
func (s *hibpSweep) readPlan(ctx context.Context) error {
	var plan hibpPlan
	if _, err := s.fetchJSON(ctx, "/subscription/status", &plan, maxHIBPAnswer); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if !plan.IncludesKAnon {
		return ErrInvalid.With("key", fault.PlanWithoutRange)
	}
	if s.f.Settings.PerMinute == 0 {
		s.setCallRate(plan.Rpm)
	}
	return s.readCatalogue(ctx)
}

// checkKey asks what the key allows, or without a key for the catalogue, and keeps nothing.
func (s *hibpSweep) checkKey(ctx context.Context) error {
	if s.f.Secret == "" {
		return s.readCatalogue(ctx)
	}
	return s.readPlan(ctx)
}

// keepCatalogue publishes titles, dates and kinds of data of all breaches, which the service tells without a key. No
// person is found by them.
func (s *hibpSweep) keepCatalogue(ctx context.Context) error {
	if err := s.readCatalogue(ctx); err != nil {
		return err
	}
	for _, b := range s.known {
		if err := s.keepBreach(ctx, b); err != nil {
			return err
		}
	}
	s.f.State.Items = int64(len(s.kept))
	return s.saveState(ctx)
}

// keepBreach publishes a breach of the catalogue, unless it is there already.
func (s *hibpSweep) keepBreach(ctx context.Context, b cyber.Breach) error {
	if s.kept[b.Name] {
		return nil
	}
	b.AddedAt = s.fs.Now()
	err := s.fs.Breaches.InsertBreach(ctx, leak.Record{Breach: b, State: leak.Published, PublishedAt: b.AddedAt})
	if err != nil && !errors.Is(err, leak.ErrBreachExists) {
		return err
	}
	s.kept[b.Name] = true
	return nil
}

// readCatalogue asks for all breaches that may be told of.
func (s *hibpSweep) readCatalogue(ctx context.Context) error {
	var all []hibpBreach
	if _, err := s.fetchJSON(ctx, "/breaches", &all, maxCatalogue); err != nil {
		return fmt.Errorf("breaches: %w", err)
	}
	for _, h := range all {
		if b, ok := h.toBreach(s.fs.Now()); ok && !h.IsSensitive {
			s.known[h.Name] = b
		}
	}
	return nil
}

// saveState keeps how far the sweep has come.
func (s *hibpSweep) saveState(ctx context.Context) error {
	_, err := s.fs.Store.UpdateFeed(ctx, s.f.Name, func(kept *Feed) error { kept.State = s.f.State; return nil })
	return err
}

// readEmails returns the watched addresses of as many cells, from the given one on, as may be held in memory, in the
// order of their hashes, and the cell behind the last of these.
func (s *hibpSweep) readEmails(ctx context.Context, from int64) (emails []hashedEmail, end int64, err error) {
	var of partner.ID
	var after cyber.AssetID
	end = cells
	for {
		assets, err := s.fs.Store.WatchedEmails(ctx, of, after, walkBatch)
		if err != nil {
			return nil, 0, err
		}
		if len(assets) == 0 {
			break
		}
		for _, a := range assets {
			of, after = a.Partner, a.ID
			address := strings.ToLower(strings.TrimSpace(a.Value))
			hash := sha1.Sum([]byte(address)) //nolint:gosec // see the import
			h := hashedEmail{hash: hash, partner: a.Partner, asset: a.ID}
			if h.rangeCell() >= from && h.rangeCell() < end {
				emails = append(emails, h)
			}
		}
		for len(emails) > sliceMost && end > from+1 {
			end = from + (end-from)/2
			emails = slices.DeleteFunc(emails, func(h hashedEmail) bool { return h.rangeCell() >= end })
		}
	}
	slices.SortFunc(emails, func(a, b hashedEmail) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return emails, end, nil
}

// askSharedRange asks about addresses that are sorted by their hashes: those that share a range share a call.
func (s *hibpSweep) askSharedRange(ctx context.Context, emails []hashedEmail) error {
	var mu sync.Mutex
	hits := map[partner.ID][]leak.Hit{}
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(s.atOnce)
	for len(emails) > 0 {
		n := 1
		for n < len(emails) && emails[n].hashPrefix() == emails[0].hashPrefix() {
			n++
		}
		alike := emails[:n]
		emails = emails[n:]
		group.Go(func() error {
			return s.askRange(asking, alike, func(h hashedEmail, breach string) {
				mu.Lock()
				defer mu.Unlock()
				hits[h.partner] = append(hits[h.partner], leak.Hit{Asset: h.asset, Seen: cyber.Seen{Breach: breach}})
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for of, found := range hits {
		if err := s.keepHits(ctx, of, found); err != nil {
			return err
		}
	}
	return nil
}

// askRange asks about the range that hashes have in common. What it answers of anybody else is forgotten at once: most
// answers have none that is wanted and are looked through without being taken apart. What is no list of hashes is not
// taken for one without ours.
func (s *hibpSweep) askRange(ctx context.Context, alike []hashedEmail, see func(h hashedEmail, breach string)) error {
	var text json.RawMessage
	prefix := alike[0].hashPrefix()
	found, err := s.fetchJSON(
		ctx,
		"/breachedaccount/range/"+strings.ToUpper(hex.EncodeToString(prefix[:])),
		&text,
		maxHIBPAnswer,
	)
	if err != nil || !found {
		return err
	}
	if text = bytes.TrimSpace(text); text[0] != '[' ||
		len(bytes.TrimSpace(text[1:len(text)-1])) > 0 && !bytes.Contains(text, []byte(`"hashSuffix"`)) {
		return errAnswer
	}
	for _, h := range alike {
		rest := hex.EncodeToString(h.hash[prefixBytes:])
		if !bytes.Contains(text, []byte(rest)) && !bytes.Contains(text, []byte(strings.ToUpper(rest))) {
			continue
		}
		var answer []hibpSuffix
		if err := json.Unmarshal(text, &answer); err != nil {
			return errAnswer
		}
		for _, one := range answer {
			if strings.EqualFold(one.HashSuffix, rest) {
				for _, breach := range one.Websites {
					see(h, breach)
				}
			}
		}
	}
	return nil
}

// keepHits keeps what was told of values of a partner. Breaches of which nothing is known are left out.
func (s *hibpSweep) keepHits(ctx context.Context, of partner.ID, hits []leak.Hit) error {
	known := hits[:0]
	for _, h := range hits {
		b, ok := s.known[h.Breach]
		if !ok {
			continue
		}
		h.Breach = b.Name
		if err := s.keepBreach(ctx, b); err != nil {
			return err
		}
		known = append(known, h)
	}
	for len(known) > 0 {
		n := min(settleMost, len(known))
		for n < len(known) && known[n].Asset == known[n-1].Asset { // a person is told of all of them at once
			n++
		}
		if _, err := s.fs.Breaches.TellHits(ctx, of, known[:n]); err != nil {
			return err
		}
		known = known[n:]
	}
	return nil
}
