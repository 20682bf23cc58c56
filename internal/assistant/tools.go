package assistant

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
)

// What tools take.
type (
	nothing struct{}
	person  struct {
		UserHash string `json:"userHash" jsonschema:"the person, as the partner's own system knows them"`
	}
	findingOf struct {
		UserHash  string `json:"userHash" jsonschema:"the person"`
		FindingID string `json:"findingId" jsonschema:"one of the person's findings"`
	}
	caseOf struct {
		UserHash string `json:"userHash" jsonschema:"the person"`
		CaseID   string `json:"caseId" jsonschema:"one of the person's cases"`
	}
	serviceID struct {
		ServiceID string `json:"serviceId" jsonschema:"one of list_services"`
	}
	page struct {
		Page int `json:"page,omitempty" jsonschema:"from 1; left out means the first"`
	}
	after struct {
		After string `json:"after,omitempty" jsonschema:"the cursor of the page before; left out means the oldest events that are kept"`
	}
)

const (
	subscriptionsAPage = 50
	breachesAPage      = 50
	eventsAPage        = 100
)

func addTools(s *mcp.Server, ask *client.Client) {
	addTool(s, "list_services", "Support services that people of this partner can have a case with.",
		func(ctx context.Context, _ nothing) (services, error) {
			all, err := ask.Services(ctx)
			return services{all}, err
		})
	addTool(s, "show_service", "What a support service asks before a case is opened, and its free times.",
		func(ctx context.Context, in serviceID) (client.ServiceDetail, error) {
			return ask.Service(ctx, in.ServiceID)
		})
	addTool(s, "list_watched_values", "What is watched of a person, masked, and whether it leaked.",
		func(ctx context.Context, in person) (assets, error) {
			contract, err := ask.Assets(ctx, in.UserHash)
			if err != nil {
				return assets{}, err
			}
			extra, err := ask.Extras(ctx, in.UserHash)
			return shownAssets(append(contract, extra...)), err
		})
	addTool(s, "list_findings", "Where watched values of a person were found, what was exposed of them there, and how grave it is.",
		func(ctx context.Context, in person) (findings, error) {
			all, err := ask.Findings(ctx, in.UserHash)
			return shownFindings(all), err
		})
	addTool(s, "show_plan", "What a person should do about a finding, step by step, and what is done.",
		func(ctx context.Context, in findingOf) (client.Plan, error) {
			return ask.Plan(ctx, in.UserHash, in.FindingID)
		})
	addTool(s, "list_advice", "Educational content that fits a person.",
		func(ctx context.Context, in person) (advice, error) {
			all, err := ask.Advise(ctx, in.UserHash)
			return advice{all}, err
		})
	addTool(s, "show_score", "The risk of a person, from 0 (the best) to 100, today and on the days on which it changed.",
		func(ctx context.Context, in person) (score, error) {
			now, err := ask.Score(ctx, in.UserHash)
			if err != nil {
				return score{}, err
			}
			history, err := ask.ScoreHistory(ctx, in.UserHash)
			return score{now, history}, err
		})
	addTool(s, "list_cover", "The insurance cover of a person.",
		func(ctx context.Context, in person) (covers, error) {
			all, err := ask.Cover(ctx, in.UserHash)
			return shownCovers(all), err
		})
	addTool(s, "list_devices", "Devices of a person that have a live antivirus key; keys and names are masked.",
		func(ctx context.Context, in person) (devices, error) {
			all, err := ask.Devices(ctx, in.UserHash)
			return shownDevices(all), err
		})
	addTool(s, "list_cases", "Support cases of a person.",
		func(ctx context.Context, in person) (cases, error) {
			all, err := ask.Cases(ctx, in.UserHash)
			return shownCases(all), err
		})
	addTool(s, "show_case", "How a support case went: who did what and when. What people wrote in it is not shown.",
		func(ctx context.Context, in caseOf) (caseHistory, error) {
			one, err := ask.Case(ctx, in.UserHash, in.CaseID)
			return shownHistory(one), err
		})
	addTool(s, "list_subscriptions", "Active subscriptions of this partner, page by page, with the people masked.",
		func(ctx context.Context, in page) (subscriptions, error) {
			p, err := ask.SubscriptionPage(ctx, max(in.Page, 1), subscriptionsAPage)
			return shownSubscriptions(p), err
		})
	addTool(s, "list_breaches", "Published breaches, newest first, page by page: public facts, and nothing of anybody in them.",
		func(ctx context.Context, in page) (breaches, error) {
			p, err := ask.BreachPage(ctx, max(in.Page, 1), breachesAPage)
			return shownBreaches(p), err
		})
	addTool(s, "list_events", "What happened to people of this partner, oldest first; go on with the cursor.",
		func(ctx context.Context, in after) (events, error) {
			p, err := ask.EventPage(ctx, in.After, eventsAPage)
			return shownEvents(p), err
		})
}

// whom an event is about.
func whom(data json.RawMessage) string {
	var about person
	if json.Unmarshal(data, &about) != nil {
		return ""
	}
	return about.UserHash
}
