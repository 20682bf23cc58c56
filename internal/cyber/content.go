package cyber

import (
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ContentID names an item of the catalogue: lower-case words joined by hyphens.
type ContentID string

// ContentType is what kind of text an item is.
type ContentType string

// The types, to the letter of the contract.
const (
	ContentAlert  ContentType = "alert"
	ContentAdvice ContentType = "advice"
	ContentTip    ContentType = "tip"
)

// DeviceType is where an item makes sense.
type DeviceType string

// The device types, to the letter of the contract.
const (
	DeviceAll     DeviceType = "all"
	DeviceMobile  DeviceType = "mobile"
	DeviceDesktop DeviceType = "desktop"
)

// Item is one piece of educational content.
type Item struct {
	ID     ContentID   `yaml:"id"`
	Type   ContentType `yaml:"type"`
	Device DeviceType  `yaml:"device"`
	// Rank is the urgency, 1 to 1000; what ranks higher comes first.
	Rank  int       `yaml:"rank"`
	When  Condition `yaml:"when,omitempty"`
	Title string    `yaml:"title"`
	// Body may name the finding the item is about: {vazamento}, {valor}, {data}. More is added when the item is about
	// several, and may say how many others: {mais}.
	Body     string              `yaml:"body"`
	More     string              `yaml:"more,omitempty"`
	Question *ValidationQuestion `yaml:"question,omitempty"`
	Retired  bool                `yaml:"retired,omitempty"`
	// Language is what the texts were translated to; empty while they are as written, in Portuguese.
	Language partner.Language `yaml:"-"`
}

// ValidationQuestion asks whether the advice has been followed.
type ValidationQuestion struct {
	Text string `yaml:"text"`
	// Mends is what the score recommends while the answer leaves a risk.
	Mends   string   `yaml:"mends"`
	Options []Option `yaml:"options"`
}

// Option is an answer to choose.
type Option struct {
	Value string `yaml:"value" json:"value"`
	Label string `yaml:"label" json:"label"`
	// Risk is what this answer leaves to mend, 0 to 10. People who are asked do not see it.
	Risk int `yaml:"risk" json:"-"`
}

// WorstRisk returns the risk of the worst answer, which an unanswered question counts as.
func (q ValidationQuestion) WorstRisk() int {
	weight := 0
	for _, o := range q.Options {
		weight = max(weight, o.Risk)
	}
	return weight
}

// Risk returns what an answer leaves to mend. Without an answer, or with one that is not offered any more, the worst is
// assumed.
func (q ValidationQuestion) Risk(answer string) int {
	for _, o := range q.Options {
		if o.Value == answer && answer != "" {
			return o.Risk
		}
	}
	return q.WorstRisk()
}

// Condition selects the people an item applies to: all of it must hold. The zero value holds for every person.
type Condition struct {
	// An open finding fits when its breach exposed one of Exposes, came from one of Sources, concerns a value of one of
	// Assets and is at least as bad as Severity; an empty one of these does not restrict.
	Exposes  []Exposed         `yaml:"exposes,flow,omitempty"`
	Sources  []SourceKind      `yaml:"sources,flow,omitempty"`
	Assets   []identifier.Kind `yaml:"assets,flow,omitempty"`
	Severity Severity          `yaml:"severity,omitempty"`
	// OpenFindings is the least number of breaches with open findings; NoFindings means none.
	OpenFindings int  `yaml:"open_findings,omitempty"`
	NoFindings   bool `yaml:"no_findings,omitempty"`
	// NoDevice and HasDevice are about protected devices, those whose live key was activated; all means any.
	NoDevice  DeviceType `yaml:"no_device,omitempty"`
	HasDevice DeviceType `yaml:"has_device,omitempty"`
	// KeyEndsWithin is in days: a live key ends no later.
	KeyEndsWithin int `yaml:"key_ends_within,omitempty"`
	// NotWatched and Watched are about kinds of monitored values.
	NotWatched identifier.Kind `yaml:"not_watched,omitempty"`
	Watched    identifier.Kind `yaml:"watched,omitempty"`
	// Answered holds when each named item was answered with one of the values.
	Answered map[ContentID][]string `yaml:"answered,omitempty"`
	// OpenCase and WaitingCase are about support cases; a waiting one needs the person's reply.
	OpenCase    bool `yaml:"open_case,omitempty"`
	WaitingCase bool `yaml:"waiting_case,omitempty"`
}

// aboutFinding reports whether the condition picks a finding, which the text may then name.
func (c Condition) aboutFinding() bool {
	return len(c.Exposes)+len(c.Sources)+len(c.Assets) > 0 || c.Severity != ""
}

// Faults of the catalogue.
var (
	ErrContentInvalid  = fault.New(fault.Invalid, "content.invalid")
	ErrContentNotFound = fault.New(fault.NotFound, "content.not_found")
	ErrContentExists   = fault.New(fault.Conflict, "content.exists")
	ErrAnswerInvalid   = fault.New(fault.Invalid, "answer.invalid")
)
