package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
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
}

const (
	hibpPerMinute = 10 // of the smallest subscription
	hibpBatch     = 100
	maxHIBPAnswer = 4 << 20
	// hibpTries is how often one address is asked about when the service says to wait.
	hibpTries       = 5
	hibpLongestWait = 10 * time.Minute
)

// runHIBP asks the account API about every watched e-mail address, at the rate that the key allows. It goes on where it
// stopped, and begins again when it is through.
func (fs *Feeds) runHIBP(ctx context.Context, f *Feed) error {
	per := f.Settings.PerMinute
	if per <= 0 {
		per = hibpPerMinute
	}
	pause := time.Minute / time.Duration(per)
	for {
		assets, err := fs.Store.WatchedEmails(ctx, f.State.AfterPartner, f.State.After, hibpBatch)
		if err != nil {
			return err
		}
		if len(assets) == 0 {
			f.State.AfterPartner, f.State.After = "", ""
			return nil
		}
		for _, a := range assets {
			if err := fs.askHIBP(ctx, f, a); err != nil {
				return err
			}
			f.State.AfterPartner, f.State.After = a.Partner, a.ID
			f.State.Items++
			if err := job.Wait(ctx, pause); err != nil {
				return err
			}
		}
		if _, err := fs.Store.UpdateFeed(ctx, f.Name, func(kept *Feed) error { kept.State = f.State; return nil }); err != nil {
			return err
		}
	}
}

func (fs *Feeds) askHIBP(ctx context.Context, f *Feed, a cyber.Asset) error {
	breaches, err := fs.accountBreaches(ctx, f, a.Value)
	if err != nil || len(breaches) == 0 {
		return err
	}
	seen := make([]cyber.Seen, 0, len(breaches))
	for _, h := range breaches {
		b, ok := h.breach(fs.Now())
		if !ok {
			continue
		}
		now := fs.Now()
		b.AddedAt = now
		err := fs.Breaches.InsertBreach(ctx, leak.Record{Breach: b, State: leak.Published, PublishedAt: now})
		if err != nil && !errors.Is(err, leak.ErrBreachExists) {
			return err
		}
		seen = append(seen, cyber.Seen{Breach: b.Name})
	}
	// An epoch of zero says nothing about the corpora, which were not asked.
	return fs.Breaches.SettleAsset(ctx, a.Partner, a.ID, cyber.Sighting{Breaches: seen})
}

// accountBreaches asks about one address and waits when told to.
func (fs *Feeds) accountBreaches(ctx context.Context, f *Feed, address string) ([]hibpBreach, error) {
	where := strings.TrimSuffix(f.Target, "/") + "/breachedaccount/" + url.PathEscape(address) + "?truncateResponse=false"
	for range hibpTries {
		breaches, after, err := fs.askOnce(ctx, f, where)
		if err != nil || after == 0 {
			return breaches, err
		}
		if err := job.Wait(ctx, min(after, hibpLongestWait)); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("ask: told to wait again and again")
}

func (fs *Feeds) askOnce(ctx context.Context, f *Feed, where string) ([]hibpBreach, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, 0, ErrInvalid.With("target: not an address") // the cause would hold the person's address
	}
	req.Header.Set("hibp-api-key", f.Secret)
	req.Header.Set("User-Agent", "vigia")
	res, err := fs.Client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) { // its text holds the whole address
			err = ue.Err
		}
		return nil, 0, fmt.Errorf("ask: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	return readHIBP(res)
}

// readHIBP reads an answer; after is how long to wait before asking again, 0 when there is no need.
func readHIBP(res *http.Response) (breaches []hibpBreach, after time.Duration, err error) {
	switch res.StatusCode {
	case http.StatusOK:
		text, err := io.ReadAll(io.LimitReader(res.Body, maxHIBPAnswer))
		if err != nil {
			return nil, 0, fmt.Errorf("ask: %w", err)
		}
		if err := json.Unmarshal(text, &breaches); err != nil {
			return nil, 0, errors.New("ask: the answer is not what the API promises")
		}
		return breaches, 0, nil
	case http.StatusNotFound:
		return nil, 0, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return nil, max(retryAfter(res.Header, 2*time.Second), 10*time.Millisecond), nil
	}
	return nil, 0, fmt.Errorf("ask: answered %d", res.StatusCode)
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// breach is the breach in our words; false when it makes no sense.
func (h hibpBreach) breach(now time.Time) (cyber.Breach, bool) {
	day, err := leak.ParseDay(h.BreachDate)
	b := cyber.Breach{
		Name: "hibp-" + strings.Trim(notInName.ReplaceAllString(strings.ToLower(h.Name), "-"), "-"), Title: h.Title, Date: day, Kind: cyber.SourceBreach,
		Source: "Have I Been Pwned", Verified: h.IsVerified, Fabricated: h.IsFabricated, SpamList: h.IsSpamList,
	}
	if h.IsStealerLog || h.IsMalware {
		b.Kind = cyber.SourceStealer
	}
	for _, class := range h.DataClasses {
		b.Exposes = append(b.Exposes, hibpClass(class))
	}
	return b, err == nil && len(b.Name) > len("hibp-") && leak.Check(&b, now) == nil
}

// hibpClasses are the words of the service for our classes.
var hibpClasses = []struct {
	word  string
	class cyber.Exposed
}{
	{"email address", cyber.ExposedEmail}, {"password hint", cyber.ExposedOther}, {"password", cyber.ExposedPassword}, {"credit card", cyber.ExposedCard},
	{"phone", cyber.ExposedPhone}, {"physical address", cyber.ExposedAddress}, {"dates of birth", cyber.ExposedBirthDate}, {"username", cyber.ExposedUsername},
	{"government issued", cyber.ExposedDocument}, {"social security", cyber.ExposedDocument}, {"passport", cyber.ExposedDocument},
	{"ip address", cyber.ExposedIP}, {"health", cyber.ExposedHealth}, {"medical", cyber.ExposedHealth}, {"bank", cyber.ExposedFinancial},
	{"financial", cyber.ExposedFinancial}, {"payment", cyber.ExposedFinancial}, {"cookie", cyber.ExposedCookies}, {"name", cyber.ExposedName},
}

func hibpClass(class string) cyber.Exposed {
	class = strings.ToLower(class)
	for _, c := range hibpClasses {
		if strings.Contains(class, c.word) {
			return c.class
		}
	}
	return cyber.ExposedOther
}
