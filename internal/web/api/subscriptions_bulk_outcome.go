package api

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// All problems of an item are named, until an answer has answerErrors of them: each further item names laterErrors.
// Ten thousand items in which everything is wrong would make an answer of 15 MB otherwise.
const (
	answerErrors = 20_000
	laterErrors  = 3
)

// keptOutcome is a bulk answer as it is kept under an idempotency key: the outcome of each item without the item
// itself. A client that repeats the request sends the items again, so the kept answer needs no personal data, is small,
// and is written quickly inside the transaction.
type keptOutcome struct {
	Created int                    `json:"created"`
	Watched string                 `json:"watched,omitempty"`
	Waiting int                    `json:"waiting,omitzero"`
	Rules   []subscription.Problem `json:"rules,omitempty"`
	Failed  []keptRun              `json:"failed,omitempty"`
}

// keptRun are items one behind the other that failed alike.
type keptRun struct {
	First int   `json:"f"`
	Count int   `json:"n"`
	Rules []int `json:"r"`
	More  int   `json:"m,omitzero"`
}

func packOutcome(o subscription.Outcome) (partner.Answer, error) {
	kept := keptOutcome{Created: o.Created, Watched: o.Watched.String(), Waiting: o.Waiting}
	numbers, named := map[subscription.Problem]int{}, 0
	for _, f := range o.Failures {
		listed := f.Problems
		if named >= answerErrors {
			listed = listed[:min(len(listed), laterErrors)]
		}
		named += len(listed)
		run := keptRun{First: f.Item, Count: 1, Rules: make([]int, len(listed)), More: len(f.Problems) - len(listed)}
		for i, p := range listed {
			n, known := numbers[p]
			if !known {
				n = len(kept.Rules)
				numbers[p], kept.Rules = n, append(kept.Rules, p)
			}
			run.Rules[i] = n
		}
		if n := len(kept.Failed); n > 0 {
			last := &kept.Failed[n-1]
			if last.First+last.Count == run.First && last.More == run.More && slices.Equal(last.Rules, run.Rules) {
				last.Count++
				continue
			}
		}
		kept.Failed = append(kept.Failed, run)
	}
	return encodeAnswer(kept)
}

// contractAnswer makes the contract's answer of what was kept and of the request's items.
func contractAnswer(kept partner.Answer, e *subscription.Enrolment) (partner.Answer, error) {
	var o keptOutcome
	if err := json.Unmarshal(kept.Body, &o); err != nil {
		return partner.Answer{}, fmt.Errorf("read outcome: %w", err)
	}
	wire := bulkWire{Result: "success", TotalCreated: o.Created, NotCreatedItems: []notCreatedWire{}}
	var items []int
	for _, run := range o.Failed {
		errs := make([]string, len(run.Rules), len(run.Rules)+1)
		for i, n := range run.Rules {
			errs[i] = ItemError(o.Rules[n])
		}
		if run.More > 0 {
			errs = append(errs, moreErrors(run.More))
		}
		for item := run.First; item < run.First+run.Count; item++ {
			failed := notCreatedWire{Errors: errs}
			failed.CPF, failed.BenefitHolder, failed.PlanID = e.SentMembers(item)
			wire.NotCreatedItems, items = append(wire.NotCreatedItems, failed), append(items, item)
		}
	}
	if wire.TotalNotCreated = len(items); wire.TotalNotCreated > 0 {
		wire.Result = "failure"
		if o.Created > 0 {
			wire.Result = "partial_success"
		}
	}
	answer, err := encodeAnswer(wire)
	if err != nil {
		return answer, err
	}
	answer.Headers = map[string]string{}
	if len(items) > 0 {
		answer.Headers[notCreatedHeader] = notCreatedIndex(items)
	}
	if o.Watched != "" {
		answer.Headers[watchedHeader] = o.Watched
	}
	if o.Waiting > 0 {
		answer.Headers[waitingHeader] = strconv.Itoa(o.Waiting)
	}
	return answer, nil
}

// moreErrors says that an item has more problems than the answer names.
func moreErrors(n int) string {
	if n == 1 {
		return string(subscription.FieldItem) + ": e mais 1 erro"
	}
	return fmt.Sprintf("%s: e mais %d erros", subscription.FieldItem, n)
}
