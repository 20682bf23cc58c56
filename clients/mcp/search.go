package mcp

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
)

// mostSearched and mostFound bound a search: subscriptions are read page by page, and an assistant asks again with
// more.
const (
	mostSearched = 20_000
	mostFound    = 20
)

// addSearch adds the search for people. It needs the partner's salt, which alone turns a CPF into a user hash.
func addSearch(server *mcp.Server, ask *client.Client, log *slog.Logger, salt string) {
	registerTool(
		server,
		log,
		"find_people",
		"People with an active subscription, by a part of their name or a masked contact, with their userHash.",
		func(ctx context.Context, in searchArguments) (any, error) {
			wanted := strings.ToLower(strings.TrimSpace(in.Text))
			if len(wanted) < 3 {
				return nil, errors.New("text: at least three letters")
			}
			found, looked, seen := people{People: []person{}}, 0, map[string]bool{}
			for s, err := range ask.Subscriptions(ctx) {
				if err != nil {
					return nil, err
				}
				if looked++; looked > mostSearched || len(found.People) == mostFound {
					found.Partial = true
					break
				}
				shown, b := shownSubscription(s), s.Beneficiary
				fits := strings.Contains(strings.ToLower(b.Name), wanted) || strings.ToLower(shown.Email) == wanted ||
					strings.ToLower(shown.Phone) == wanted
				if hash := client.UserHash(b.CPF, salt); fits && !seen[hash] {
					seen[hash] = true
					found.People = append(found.People, person{UserHash: hash, subscribed: shown})
				}
			}
			return found, nil
		},
	)
}
