package console

import (
	"context"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

// bulkAction is what can be done to many lines of a list at once.
type bulkAction struct {
	// Label is the verb, Warning what follows from it.
	Label, Warning string
	// Options are what has to be chosen; empty when nothing has.
	Options []choiceOption
	// audit is what the trail calls it.
	audit string
	// portal is who of a partner's people may do it, to what is theirs.
	portal operator.Right
	// do does it to one line: the partner and the ids in its key.
	do func(ctx context.Context, in *Rules, id partner.ID, key []string, option string) error
}

var resolveMany = bulkAction{
	Label:   "Resolver",
	Warning: "As ocorrências deixam de contar na situação e na pontuação das pessoas.",
	Options: resolutionOptions,
	audit:   "finding.resolve",
	portal:  attend,
	do: func(ctx context.Context, in *Rules, id partner.ID, key []string, option string) error {
		found, err := in.Review.FindingByID(ctx, id, cyber.FindingID(key[0]))
		if err != nil {
			return err
		}
		_, user := found.OwnerOfValue()
		return in.Monitoring.ResolveFinding(ctx, id, user, found.Finding.ID, option)
	},
}

var replayMany = bulkAction{
	Label:   "Reenviar",
	Warning: "Cada evento volta à fila do webhook, também o que já tinha sido entregue.",
	audit:   "event.replay",
	portal:  integrate,
	do: func(ctx context.Context, in *Rules, id partner.ID, key []string, _ string) error {
		if len(key) < 2 {
			return errForm
		}
		_, err := in.History.ReplayEvents(
			ctx, id, alert.Selection{Event: alert.EventID(key[0]), Endpoint: alert.EndpointID(key[1])},
		)
		return err
	},
}

var endMany = bulkAction{
	Label:   "Encerrar",
	Warning: "Uma assinatura encerrada não volta. O parceiro é avisado de cada uma.",
	audit:   "subscription.end",
	portal:  closed,
	do: func(ctx context.Context, in *Rules, id partner.ID, key []string, _ string) error {
		seq, err := strconv.ParseInt(key[0], 10, 64)
		if err != nil {
			return subscription.ErrNotFound
		}
		sub, err := in.FindSubscriptions.SubscriptionBySeq(ctx, id, seq)
		if err != nil || !sub.EndedAt.IsZero() {
			return err
		}
		_, err = in.Subscriptions.MoveSubscriptions(
			ctx, id, subscription.Selection{Plan: sub.Plan, CPF: sub.Beneficiary.CPF}, subscription.End,
		)
		return err
	},
}

var revokeMany = bulkAction{
	Label: "Revogar", Warning: "As chaves deixam de valer. Quem as usa precisa pedir outra.", audit: "epp.revoke",
	portal: attend,
	do: func(ctx context.Context, in *Rules, id partner.ID, key []string, _ string) error {
		d, err := in.Endpoints.DeviceByID(ctx, cyber.KeyID(key[0]))
		if err != nil {
			return err
		}
		if d.Partner != id {
			return cyber.ErrDeviceUnknown
		}
		_, err = in.Endpoints.RevokeDevice(ctx, d.ID)
		return err
	},
}

// doTo does the action to the line of a key.
func (a *bulkAction) doTo(ctx context.Context, in *Rules, key, option string) error {
	id, rest, _ := strings.Cut(key, "/")
	return a.do(ctx, in, partner.ID(id), strings.Split(rest, "/"), option)
}

// isAllowedTo reports whether the operator may run the action. A nil action is allowed to no operator.
func (a *bulkAction) isAllowedTo(who operator.Operator) bool {
	return a != nil && access{operator.Support, a.portal}.isOpenTo(who)
}

// isGoneError reports whether the action failed because another operator or process has dealt with the line meanwhile.
func isGoneError(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.Conflict
}
