package message

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/notify/alert"
)

// Word is what a text may name, as {word}. None of them can hold a personal value.
type Word string

// The words.
const (
	Partner  Word = "parceiro"
	Date     Word = "data"
	Count    Word = "quantidade"
	Breach   Word = "vazamento"
	Kind     Word = "dado"
	Severity Word = "gravidade"
	Status   Word = "situacao"
	Case     Word = "caso"
	Hour     Word = "horario"
	Rating   Word = "nota"
	System   Word = "sistema"
	Validity Word = "validade"
	Reason   Word = "motivo"
	Plan     Word = "plano"
)

// longest is how many characters a word may take: what is longer is cut, so that a message that fits always does.
var longest = map[Word]int{
	Partner:  30,
	Date:     10,
	Count:    4,
	Breach:   40,
	Kind:     22,
	Severity: 8,
	Status:   20,
	Case:     8,
	Hour:     16,
	Rating:   1,
	System:   8,
	Validity: 10,
	Reason:   32,
	Plan:     30,
}

// common are the words of every event, own those of single ones.
var (
	common = []Word{Partner, Date}
	own    = map[alert.Type][]Word{
		alert.LeakDetected:  {Count, Breach, Kind, Severity},
		alert.StatusChanged: {Kind, Status},
		alert.StepDue:       {},
		alert.CaseStatusChanged: {
			Case,
			Status,
		},
		alert.CaseMessageAdded:      {Case},
		alert.CaseBooked:            {Case, Hour},
		alert.CaseRated:             {Case, Rating},
		alert.KeyExpiring:           {System, Validity},
		alert.KeyActivated:          {System},
		alert.KeyEnded:              {System, Reason},
		alert.SubscriptionEnded:     {Plan},
		alert.SubscriptionSuspended: {Plan},
		alert.SubscriptionResumed:   {Plan},
	}
)

// ListWords returns what texts about an event may name.
func ListWords(t alert.Type) []Word { return slices.Concat(common, own[t]) }

// joinWords lists the words of an event for an error.
func joinWords(t alert.Type) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ListWords(t)), " ", ", "), "[]")
}
