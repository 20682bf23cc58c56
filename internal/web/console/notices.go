package console

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/operator"
)

// accessChanges are the actions in the audit trail of which an operator is notified when they concern the operator's
// own access. The service sends no mail, so the first page shows them until the operator dismisses the notice.
var accessChanges = map[string]string{ //nolint:gosec // speaks of passwords, holds none
	"account.password":        "Sua senha foi trocada",
	"account.second_factor":   "Seu segundo fator foi ativado",
	"account.recovery_codes":  "Seus códigos de recuperação foram trocados",
	"account.recovered":       "Um código de recuperação foi usado no lugar do aplicativo",
	"account.passkey_added":   "Uma chave de acesso foi incluída",
	"account.passkey_removed": "Uma chave de acesso foi removida",
	"operator.reset":          "Seu acesso foi redefinido",
	"operator.role":           "Seu papel foi mudado",
	"operator.disable":        "Seu acesso foi desativado",
	"operator.enable":         "Seu acesso foi reativado",
}

// noticesPer bounds how many of one kind are shown; the trail has all of them.
const noticesPer = 5

// accessNotices returns the changes of the operator's own access that they have not dismissed, newest first.
func (c *Console) accessNotices(ctx context.Context, who operator.Operator) ([]operator.Entry, error) {
	var list []operator.Entry
	for action := range accessChanges {
		f := operator.Filter{Subject: string(who.ID), Action: action, Limit: noticesPer}
		entries, err := c.Rules.Audit.ListEntries(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.At.After(who.NoticedAt) {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, func(a, b operator.Entry) int { return int(b.Seq - a.Seq) })
	return list, nil
}

// dismissNotices notes that the operator has seen the notices.
func dismissNotices(c *Console, r *request) (answer, error) {
	dismiss := func(ctx context.Context, in *Rules) (string, string, error) {
		return string(r.who.ID), "", in.Operators.DismissNotices(ctx, r.who.ID)
	}
	return c.changeAndRedirect(r, "account.noticed", redirect{to: "/"}, dismiss)
}
