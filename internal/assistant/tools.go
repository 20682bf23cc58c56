package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/client"
)

// tool only reads.
type tool struct {
	name, description string
	takes             []parameter
	ask               func(ctx context.Context, ask *client.Client, in arguments) (any, error)
}

// parameter is one of arguments, as an assistant is told of it.
type parameter struct {
	name, kind, description string
	optional                bool
}

// arguments of all tools; each takes some.
type arguments struct {
	UserHash  string `json:"userHash"`
	FindingID string `json:"findingId"`
	CaseID    string `json:"caseId"`
	ServiceID string `json:"serviceId"`
	Page      int    `json:"page"`
	After     string `json:"after"`
}

var (
	person    = parameter{name: "userHash", kind: "string", description: "the person, as the partner's own system knows them"}
	findingID = parameter{name: "findingId", kind: "string", description: "one of the person's findings"}
	caseID    = parameter{name: "caseId", kind: "string", description: "one of the person's cases"}
	serviceID = parameter{name: "serviceId", kind: "string", description: "one of list_services"}
	page      = parameter{name: "page", kind: "integer", description: "from 1; left out means the first", optional: true}
	after     = parameter{name: "after", kind: "string", description: "the cursor of the page before; left out means the oldest events that are kept", optional: true}
)

const (
	subscriptionsAPage = 50
	breachesAPage      = 50
	eventsAPage        = 100
)

var tools = []tool{
	{"list_services", "Support services that people of this partner can have a case with.", nil,
		func(ctx context.Context, ask *client.Client, _ arguments) (any, error) {
			all, err := ask.Services(ctx)
			return services{all}, err
		}},
	{"show_service", "What a support service asks before a case is opened, and its free times.", []parameter{serviceID},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			return ask.Service(ctx, in.ServiceID)
		}},
	{"list_watched_values", "What is watched of a person, masked, and whether it leaked.", []parameter{person},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			contract, err := ask.Assets(ctx, in.UserHash)
			if err != nil {
				return assets{}, err
			}
			extra, err := ask.Extras(ctx, in.UserHash)
			return shownAssets(append(contract, extra...)), err
		}},
	{"list_findings", "Where watched values of a person were found, what was exposed of them there, and how grave it is.", []parameter{person},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			all, err := ask.Findings(ctx, in.UserHash)
			return shownFindings(all), err
		}},
	{"show_plan", "What a person should do about a finding, step by step, and what is done.", []parameter{person, findingID},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			return ask.Plan(ctx, in.UserHash, in.FindingID)
		}},
	{"list_advice", "Educational content that fits a person.", []parameter{person},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			all, err := ask.Advise(ctx, in.UserHash)
			return advice{all}, err
		}},
	{"show_score", "The risk of a person, from 0 (the best) to 100, today and on the days on which it changed.", []parameter{person},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			now, err := ask.Score(ctx, in.UserHash)
			if err != nil {
				return score{}, err
			}
			history, err := ask.ScoreHistory(ctx, in.UserHash)
			return score{now, history}, err
		}},
	{"list_cover", "The insurance cover of a person.", []parameter{person},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			all, err := ask.Cover(ctx, in.UserHash)
			return shownCovers(all), err
		}},
	{"list_devices", "Devices of a person that have a live antivirus key; keys and names are masked.", []parameter{person},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			all, err := ask.Devices(ctx, in.UserHash)
			return shownDevices(all), err
		}},
	{"list_cases", "Support cases of a person.", []parameter{person},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			all, err := ask.Cases(ctx, in.UserHash)
			return shownCases(all), err
		}},
	{"show_case", "How a support case went: who did what and when. What people wrote in it is not shown.", []parameter{person, caseID},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			one, err := ask.Case(ctx, in.UserHash, in.CaseID)
			return shownHistory(one), err
		}},
	{"list_subscriptions", "Active subscriptions of this partner, page by page, with the people masked.", []parameter{page},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			p, err := ask.SubscriptionPage(ctx, max(in.Page, 1), subscriptionsAPage)
			return shownSubscriptions(p), err
		}},
	{"list_breaches", "Published breaches, newest first, page by page: public facts, and nothing of anybody in them.", []parameter{page},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			p, err := ask.BreachPage(ctx, max(in.Page, 1), breachesAPage)
			return shownBreaches(p), err
		}},
	{"list_events", "What happened to people of this partner, oldest first; go on with the cursor.", []parameter{after},
		func(ctx context.Context, ask *client.Client, in arguments) (any, error) {
			p, err := ask.EventPage(ctx, in.After, eventsAPage)
			return shownEvents(p), err
		}},
}

// shown is how an assistant is told of a tool.
func (t tool) shown() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.takes {
		properties[p.name] = map[string]any{"type": p.kind, "description": p.description}
		if !p.optional {
			required = append(required, p.name)
		}
	}
	return map[string]any{
		"name": t.name, "description": t.description,
		"inputSchema": map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		"annotations": map[string]any{"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
	}
}

// read checks arguments against what the tool takes.
func (t tool) read(raw jsontext.Value) (in arguments, _ error) {
	if raw == nil {
		raw = jsontext.Value("null") // stands for no arguments
	}
	var given map[string]jsontext.Value
	// In canonical form 1.0 is the integer that it is by the schema.
	if raw.Canonicalize() != nil || strict.Unmarshal(raw, &given) != nil {
		return in, errors.New("arguments: must be an object")
	}
	for _, p := range t.takes {
		value, there := given[p.name]
		delete(given, p.name)
		if !there && !p.optional {
			return in, fmt.Errorf("arguments: %s is missing", p.name)
		}
		if there && !p.fits(value) {
			return in, fmt.Errorf("arguments: %s must be of type %s", p.name, p.kind)
		}
	}
	if len(given) > 0 {
		return in, fmt.Errorf("arguments: %q is not taken", slices.Min(slices.Collect(maps.Keys(given))))
	}
	return in, strict.Unmarshal(raw, &in)
}

func (p parameter) fits(value jsontext.Value) bool {
	if p.kind == "integer" {
		return value.Kind() == jsontext.KindNumber && strict.Unmarshal(value, new(int)) == nil
	}
	return value.Kind() == jsontext.KindString
}

// whom an event is about.
func whom(data json.RawMessage) string {
	var about struct {
		UserHash string `json:"userHash"`
	}
	if json.Unmarshal(data, &about) != nil {
		return ""
	}
	return about.UserHash
}
