package mcp

import (
	"context"
	"encoding/json"
	"log/slog"

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
		Limit int `json:"limit" jsonschema:"how many, at most 100"`
	}
	searchArguments struct {
		Text string `json:"text" jsonschema:"a part of the name, or a masked e-mail or phone as the other tools show it"`
	}
	openArguments struct {
		personArguments
		ServiceID string `json:"serviceId" jsonschema:"one of list_services"`
		Answers   []struct {
			QuestionID string `json:"questionId" jsonschema:"one of the questions of show_service"`
			Answer     string `json:"answer"`
		} `json:"answers,omitempty" jsonschema:"answers to the questions of show_service"`
	}
	linkArguments struct {
		personArguments
		Language string `json:"language,omitempty" jsonschema:"pt-BR, es or en"`
	}
)

// Pages are short because an assistant reads all of an answer.
const (
	subscriptionsAPage = 50
	breachesAPage      = 50
	eventsAPage        = 100
)

// addTools adds all tools. Each asks the partner API through ask.
func addTools(server *mcp.Server, ask *client.Client, log *slog.Logger) {
	registerTool(server, log, "list_services", "Support services that people of this partner can have a case with.",
		func(ctx context.Context, _ noArguments) (any, error) { return ask.ListSupportServices(ctx) })
	registerTool(
		server,
		log,
		"show_service",
		"What a support service asks before a case is opened, and its free times.",
		func(ctx context.Context, in serviceArguments) (any, error) { return ask.GetService(ctx, in.ServiceID) },
	)
	registerTool(server, log, "list_watched_values", "What is watched of a person, masked, and whether it leaked.",
		func(ctx context.Context, in personArguments) (any, error) {
			var first, second client.Reply
			contract, err := ask.ListMonitoredAssets(ctx, in.UserHash, client.Into(&first))
			if err != nil {
				return assets{}, err
			}
			extra, err := ask.ListExtraAssets(ctx, in.UserHash, client.Into(&second))
			shown := shownAssets(contract, extra)
			shown.unlooked = tellUnlooked(first.FirstLooksWaiting + second.FirstLooksWaiting)
			return shown, err
		})
	registerTool(
		server,
		log,
		"list_findings",
		"Where watched values of a person were found, what was exposed of them there, and how grave it is.",
		aboutLooks(ask.ListFindings, func(all []client.Finding, of unlooked) findings {
			shown := shownFindings(all)
			shown.unlooked = of
			return shown
		}),
	)
	registerTool(server, log, "show_plan", "What a person should do about a finding, step by step, and what is done.",
		func(ctx context.Context, in findingArguments) (any, error) {
			return ask.GetPlan(ctx, in.FindingID, in.UserHash)
		})
	registerTool(server, log, "list_advice", "Educational content that fits a person.",
		aboutLooks(ask.ListAdvice, func(all []client.Advice, of unlooked) advice { return advice{of, all} }))
	registerTool(
		server,
		log,
		"show_score",
		"The risk of a person, from 0 (the best) to 100, today and on the days on which it changed.",
		func(ctx context.Context, in personArguments) (any, error) {
			var reply client.Reply
			now, err := ask.RiskScore(ctx, in.UserHash, client.Into(&reply))
			if err != nil {
				return score{}, err
			}
			history, err := ask.ScoreHistory(ctx, in.UserHash)
			return score{tellUnlooked(reply.FirstLooksWaiting), now, history}, err
		},
	)
	registerTool(server, log, "list_cover", "The insurance cover of a person.", aboutPerson(ask.ListCover, shownCovers))
	registerTool(
		server,
		log,
		"list_devices",
		"Devices of a person that have a live antivirus key; keys and names are masked.",
		func(ctx context.Context, in personArguments) (any, error) {
			all, err := ask.ListProtectedDevices(ctx, client.WithUserHash(in.UserHash))
			return shownDevices(all.ProtectedDevices), err
		},
	)
	registerTool(server, log, "list_cases", "Support cases of a person.", aboutPerson(ask.ListCases, shownCases))
	registerTool(
		server,
		log,
		"show_case",
		"How a support case went: who did what and when. What people wrote in it is not shown.",
		func(ctx context.Context, in caseArguments) (any, error) {
			one, err := ask.GetCase(ctx, in.CaseID, in.UserHash)
			return shownHistory(one), err
		},
	)
	registerTool(
		server,
		log,
		"list_subscriptions",
		"Active subscriptions of this partner, page by page, with the people masked.",
		func(ctx context.Context, in pageArguments) (any, error) {
			p, err := ask.ListSubscriptions(
				ctx,
				client.WithPage(max(in.Page, 1)),
				client.WithPageSize(subscriptionsAPage),
			)
			return shownSubscriptions(p), err
		},
	)
	registerTool(
		server,
		log,
		"list_breaches",
		"Published breaches, newest first, page by page: public facts, and nothing of anybody in them.",
		func(ctx context.Context, in pageArguments) (any, error) {
			p, err := ask.ListBreaches(ctx, client.WithPage(max(in.Page, 1)), client.WithPageSize(breachesAPage))
			return shownBreaches(p), err
		},
	)
	registerTool(server, log, "list_events", "What happened to people of this partner last, newest first.",
		func(ctx context.Context, in eventArguments) (any, error) {
			p, err := ask.ListEvents(ctx, client.WithNewest(true), client.WithLimit(min(max(in.Limit, 1), eventsAPage)))
			return shownEvents(p), err
		})
}

// personOfEvent returns the user hash that an event names, or nothing.
func personOfEvent(body client.EventBody) string {
	raw, err := json.Marshal(body)
	var about struct {
		Data struct {
			UserHash string `json:"userHash"`
		} `json:"data"`
	}
	if err != nil || json.Unmarshal(raw, &about) != nil {
		return ""
	}
	return about.Data.UserHash
}

// addWriters adds the tools that change something. The key must have the scope cyber as well: the API decides.
func addWriters(server *mcp.Server, ask *client.Client, log *slog.Logger) {
	addWriter(server, log, "open_case", "Open a support case for a person. Ask the person first.",
		func(ctx context.Context, in openArguments) (any, error) {
			body := client.NewCase{ServiceID: in.ServiceID, UserHash: in.UserHash}
			for _, a := range in.Answers {
				body.Questions = append(body.Questions, client.TriageAnswer{QuestionID: a.QuestionID, Answer: a.Answer})
			}
			opened, err := ask.OpenSupportCase(ctx, body)
			return openedCase{ID: opened.Task.ID, Status: opened.Task.Status}, err
		})
	addWriter(
		server,
		log,
		"send_page_link",
		"Make a link to the person's own page, good for a few minutes. Send it to that person and to no other.",
		func(ctx context.Context, in linkArguments) (any, error) {
			return ask.OpenPortalSession(ctx, client.PortalRequest{UserHash: in.UserHash, Lang: in.Language})
		},
	)
}
