package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
)

// Arguments of tools. The schemas that assistants read are made of these types.
type (
	noArguments     struct{}
	personArguments struct {
		UserHash string `json:"userHash" jsonschema:"the person, as the partner's own system knows them"`
	}
	findingArguments struct {
		personArguments
		FindingID string `json:"findingId" jsonschema:"one of the person's findings"`
	}
	caseArguments struct {
		personArguments
		CaseID string `json:"caseId" jsonschema:"one of the person's cases"`
	}
	serviceArguments struct {
		ServiceID string `json:"serviceId" jsonschema:"one of list_services"`
	}
	pageArguments struct {
		Page int `json:"page,omitempty" jsonschema:"from 1; left out means the first"`
	}
	eventArguments struct {
		After string `json:"after,omitempty" jsonschema:"the cursor of the page before; left out means the oldest events that are kept"`
	}
)

const (
	subscriptionsAPage = 50
	breachesAPage      = 50
	eventsAPage        = 100
)

// addTools adds all tools. Each asks the partner API through ask.
func addTools(server *mcp.Server, ask *client.Client, log *slog.Logger) {
	addTool(server, log, "list_services", "Support services that people of this partner can have a case with.",
		func(ctx context.Context, _ noArguments) (any, error) {
			all, err := ask.Services(ctx)
			return services{all}, err
		})
	addTool(server, log, "show_service", "What a support service asks before a case is opened, and its free times.",
		func(ctx context.Context, in serviceArguments) (any, error) {
			return ask.Service(ctx, in.ServiceID)
		})
	addTool(server, log, "list_watched_values", "What is watched of a person, masked, and whether it leaked.",
		func(ctx context.Context, in personArguments) (any, error) {
			contract, err := ask.Assets(ctx, in.UserHash)
			if err != nil {
				return assets{}, err
			}
			extra, err := ask.Extras(ctx, in.UserHash)
			return shownAssets(append(contract, extra...)), err
		})
	addTool(server, log, "list_findings", "Where watched values of a person were found, what was exposed of them there, and how grave it is.",
		func(ctx context.Context, in personArguments) (any, error) {
			all, err := ask.Findings(ctx, in.UserHash)
			return shownFindings(all), err
		})
	addTool(server, log, "show_plan", "What a person should do about a finding, step by step, and what is done.",
		func(ctx context.Context, in findingArguments) (any, error) {
			return ask.Plan(ctx, in.UserHash, in.FindingID)
		})
	addTool(server, log, "list_advice", "Educational content that fits a person.",
		func(ctx context.Context, in personArguments) (any, error) {
			all, err := ask.Advise(ctx, in.UserHash)
			return advice{all}, err
		})
	addTool(server, log, "show_score", "The risk of a person, from 0 (the best) to 100, today and on the days on which it changed.",
		func(ctx context.Context, in personArguments) (any, error) {
			now, err := ask.Score(ctx, in.UserHash)
			if err != nil {
				return score{}, err
			}
			history, err := ask.ScoreHistory(ctx, in.UserHash)
			return score{now, history}, err
		})
	addTool(server, log, "list_cover", "The insurance cover of a person.",
		func(ctx context.Context, in personArguments) (any, error) {
			all, err := ask.Cover(ctx, in.UserHash)
			return shownCovers(all), err
		})
	addTool(server, log, "list_devices", "Devices of a person that have a live antivirus key; keys and names are masked.",
		func(ctx context.Context, in personArguments) (any, error) {
			all, err := ask.Devices(ctx, in.UserHash)
			return shownDevices(all), err
		})
	addTool(server, log, "list_cases", "Support cases of a person.",
		func(ctx context.Context, in personArguments) (any, error) {
			all, err := ask.Cases(ctx, in.UserHash)
			return shownCases(all), err
		})
	addTool(server, log, "show_case", "How a support case went: who did what and when. What people wrote in it is not shown.",
		func(ctx context.Context, in caseArguments) (any, error) {
			one, err := ask.Case(ctx, in.UserHash, in.CaseID)
			return shownHistory(one), err
		})
	addTool(server, log, "list_subscriptions", "Active subscriptions of this partner, page by page, with the people masked.",
		func(ctx context.Context, in pageArguments) (any, error) {
			p, err := ask.SubscriptionPage(ctx, max(in.Page, 1), subscriptionsAPage)
			return shownSubscriptions(p), err
		})
	addTool(server, log, "list_breaches", "Published breaches, newest first, page by page: public facts, and nothing of anybody in them.",
		func(ctx context.Context, in pageArguments) (any, error) {
			p, err := ask.BreachPage(ctx, max(in.Page, 1), breachesAPage)
			return shownBreaches(p), err
		})
	addTool(server, log, "list_events", "What happened to people of this partner, oldest first; go on with the cursor.",
		func(ctx context.Context, in eventArguments) (any, error) {
			p, err := ask.EventPage(ctx, in.After, eventsAPage)
			return shownEvents(p), err
		})
}

// addTool adds a tool that only reads. What the service refuses is a result that an assistant reads, so that it can ask
// better.
func addTool[In any](server *mcp.Server, log *slog.Logger, name, description string, ask func(context.Context, In) (any, error)) {
	tool := &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}}
	mcp.AddTool(server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (_ *mcp.CallToolResult, out any, err error) {
		defer func() {
			if recover() != nil { // its value may quote what was asked, so it is not logged
				log.ErrorContext(ctx, "panic", "tool", name, "stack", string(debug.Stack()))
				err = errors.New("internal error")
			}
		}()
		out, err = ask(ctx, in)
		return nil, out, explained(err)
	})
}

// personOfEvent returns the user hash that an event names, or nothing.
func personOfEvent(data json.RawMessage) string {
	var about struct {
		UserHash string `json:"userHash"`
	}
	if json.Unmarshal(data, &about) != nil {
		return ""
	}
	return about.UserHash
}
