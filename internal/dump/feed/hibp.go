package feed

import (
	"regexp"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
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
		Name:       "hibp-" + strings.Trim(notInName.ReplaceAllString(strings.ToLower(h.Name), "-"), "-"),
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
