package console

import (
	"context"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// errSelf keeps people from shutting themselves out.
var errSelf = fault.New(fault.Conflict, "operator.self")

// listOperators shows the operators; for a partner's people, those of their partner only.
func listOperators(c *Console, r *request) (answer, error) {
	return view{"operators", "Operadores", operatorsPage{callRule(r, c.Rules.Operators.ListOperators), c.partnerNames(r), r.scope.home.ID, r.scope.at.ID == r.scope.home.ID}}, nil
}

// operatorsPage is the data of the list of operators.
type operatorsPage struct {
	Rows  []operator.Operator
	Names map[partner.ID]string
	// Invites is the partner whose people the page is about; empty for all of the service.
	Invites partner.ID
	// Home is false in the sandbox, which has no people of its own.
	Home bool
}

// newOperator shows an empty form for an operator of the service.
func newOperator(*Console, *request) (answer, error) {
	return view{"operator-new", "Novo operador", nil}, nil
}

// oneTimeLink returns the page that shows a link which works once.
func (c *Console) oneTimeLink(r *request, o operator.Operator, heading, token string) (answer, error) {
	help := "Quem o abrir escolhe a senha desta conta."
	if c.publicOrigin(r.Request) == "" {
		help += " Ponha antes dele o endereço deste console, que não foi informado em --public-url."
	}
	return showSecretsNext(r, secretPage{
		Heading:   heading,
		Text:      "Envie o link a " + o.Email + " por um canal seguro. Ele vale por 24 horas e funciona uma vez.",
		Secrets:   []shownSecret{{"Link de uso único", c.publicOrigin(r.Request) + "/link/" + token, help}},
		Back:      "/operators/" + url.PathEscape(string(o.ID)),
		BackLabel: "Copiei o link, continuar",
	})
}

// createOperator creates an operator and shows the one-time link with which they choose a password.
func createOperator(c *Console, r *request) (answer, error) {
	role := parseValue(r, operator.ParseRole, r.trimmedField("role"))
	var made operator.Operator
	var token string
	c.changeWithAudit(r, "operator.create", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		made, token, err = in.Operators.CreateOperator(ctx, r.trimmedField("email"), role)
		return string(made.ID), string(role), err
	})
	return c.oneTimeLink(r, made, "Operador criado", token)
}

// newInvite shows the form that invites one of a partner's people, with the roles that who asks may give.
func newInvite(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.PathValue("id")))
	return view{"invite", "Convidar uma pessoa", inviteForm{p, r.givableRoles()}}, nil
}

// inviteForm is the data of the page that invites a partner's person.
type inviteForm struct {
	partner.Partner
	// Roles are those that can be given.
	Roles []operator.Role
}

// Gives reports whether a role, by its name in forms, can be given.
func (f inviteForm) Gives(name string) bool {
	return slices.ContainsFunc(f.Roles, func(role operator.Role) bool { return role.Name() == name })
}

// givableRoles returns the roles of a partner's people that who asks may give.
func (r *request) givableRoles() []operator.Role {
	return slices.DeleteFunc(operator.PartnerRoles(), func(role operator.Role) bool {
		return r.who.Partner != "" && !r.who.Role.MayGive(role)
	})
}

// inviteOperator makes an account for a partner's person.
func inviteOperator(c *Console, r *request) (answer, error) {
	role := parseValue(r, operator.ParsePartnerRole, r.trimmedField("role"))
	var made operator.Operator
	var token string
	c.changeWithAudit(r, "operator.invite", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		p, err := in.Partners.GetPartner(ctx, partner.ID(r.PathValue("id")))
		if err != nil {
			return "", "", err
		}
		made, token, err = in.Operators.InvitePartnerOperator(ctx, p.ID, r.trimmedField("email"), role)
		return string(made.ID), string(p.ID) + " " + string(role), err
	})
	return c.oneTimeLink(r, made, "Convite pronto", token)
}

// operatorPage is the data of an operator's page.
type operatorPage struct {
	operator.Operator
	Sessions []operator.Session
	Self     bool
	Locked   bool
	Roles    []operator.Role
}

// showOperator shows an operator with their sessions and the roles that the viewer may give them.
func showOperator(c *Console, r *request) (answer, error) {
	id := operator.ID(r.PathValue("id"))
	o := callRuleWith(r, c.Rules.Operators.OperatorByID, id)
	sessions := callRuleWith(r, c.Rules.Operators.ListSessions, id)
	roles := operator.ListRoles()
	if o.Partner != "" {
		roles = r.givableRoles()
	}
	return view{"operator", o.Email, operatorPage{o, sessions, id == r.who.ID, c.Now().Before(o.LockedUntil), roles}}, nil
}

// changeRole changes what an operator may do.
var changeRole = changeOperator(
	"operator.role",
	"operator.role",
	func(r *request, in *Rules, id operator.ID) (string, error) {
		who, err := in.Operators.OperatorByID(r.Context(), id)
		if err != nil {
			return "", err
		}
		role, err := who.ParseRole(r.trimmedField("role"))
		if err == nil {
			_, err = in.Operators.ChangeRole(r.Context(), id, role)
		}
		return string(role), err
	},
)

// disableOperator disables an operator and ends their sessions. The account stays for the audit trail.
var disableOperator = changeOperator(
	"operator.disable",
	"operator.disabled",
	byOperatorID((*operator.Registry).DisableOperator),
)

// enableOperator lets a disabled operator log in again.
var enableOperator = changeOperator(
	"operator.enable",
	"operator.enabled",
	byOperatorID((*operator.Registry).EnableOperator),
)

// endSessions logs another operator out everywhere.
var endSessions = changeOperator(
	"operator.logout",
	"operator.logged_out",
	byOperatorID((*operator.Registry).DeleteSessions),
)

// operatorChange changes an operator and returns the detail of its line in the trail.
type operatorChange func(r *request, in *Rules, id operator.ID) (string, error)

// changeOperator makes the handler of a change of another operator's access, which refuses a change of one's own.
func changeOperator(action, done string, change operatorChange) handler {
	return changeHandler(
		action,
		"id",
		"/operators/{id}",
		done,
		func(r *request, in *Rules, id operator.ID) (string, error) {
			if id == r.who.ID {
				return "", errSelf
			}
			return change(r, in, id)
		},
	)
}

// byOperatorID returns a change that needs nothing but the id.
func byOperatorID[T any](change func(*operator.Registry, context.Context, operator.ID) (T, error)) operatorChange {
	return func(r *request, in *Rules, id operator.ID) (string, error) {
		_, err := change(in.Operators, r.Context(), id)
		return "", err
	}
}

// resetOperator removes an operator's password and second factor and shows a one-time link to set new ones.
func resetOperator(c *Console, r *request) (answer, error) {
	var o operator.Operator
	var token string
	_, err := changeOperator("operator.reset", "", func(r *request, in *Rules, id operator.ID) (_ string, err error) {
		o, token, err = in.Operators.ResetAccess(r.Context(), id)
		return "", err
	})(c, r)
	r.keepFailure(err)
	return c.oneTimeLink(r, o, "Acesso redefinido", token)
}

// accessChanges are the actions in the audit trail of which an operator is notified when they concern the operator's own
// access. The service sends no mail, so the first page shows them until the operator dismisses the notice.
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
func (c *Console) accessNotices(r *request) (list []operator.Entry) {
	for action := range accessChanges {
		for _, e := range callRuleWith(r, c.Rules.Audit.ListEntries, operator.Filter{Subject: string(r.who.ID), Action: action, Limit: noticesPer}) {
			if e.At.After(r.who.NoticedAt) {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, func(a, b operator.Entry) int { return int(b.Seq - a.Seq) })
	return list
}

// dismissNotices notes that the operator has seen the notices.
func dismissNotices(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(
		r,
		"account.noticed",
		redirect{to: "/"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return string(r.who.ID), "", in.Operators.DismissNotices(ctx, r.who.ID)
		},
	)
}

// auditPage is the data of the audit trail's page.
type auditPage struct {
	List    listView
	Entries []auditRow
	// Checked is what a verification found.
	Checked *auditCheck
}

// auditRow is a line of the audit trail as the page shows it.
type auditRow struct {
	operator.Entry
	// Who is the e-mail of an operator, or the actor as it stands.
	Who string
}

// auditCheck is the outcome of a check of the audit trail; MAC is the head to be noted outside of the service.
type auditCheck struct {
	Whole bool
	Lines int64
	MAC   string
	Why   string
}

// listAudit shows one page of the audit trail.
func listAudit(c *Console, r *request) (answer, error) { return c.auditView(r, nil) }

// auditView shows the audit trail, with the outcome of a check when one was just made.
func (c *Console) auditView(r *request, checked *auditCheck) (answer, error) {
	f := c.parseFilterQuery(r, &auditList, r.URL.Query(), "", nil)
	entries, next := callRulePair2(r, f.readEntries, &c.Rules, perPage)
	list := c.newListView(r, &auditList, f, nil, len(entries), next, -1)
	return view{"audit", "Auditoria", auditPage{list, c.auditRows(r, entries), checked}}, nil
}

// auditRows puts e-mails in the place of operators' ids.
func (c *Console) auditRows(r *request, entries []operator.Entry) []auditRow {
	emails := callRuleWith(r, operatorEmails, &c.Rules)
	rows := make([]auditRow, len(entries))
	for i, e := range entries {
		rows[i] = auditRow{e, e.Name}
		if email := emails[e.Name]; email != "" {
			rows[i].Who = email
		} else if c.confined { // who of the service it was, from where and with what words is not for partners
			rows[i] = auditRow{operator.Entry{Seq: e.Seq, At: e.At, Action: e.Action, Subject: e.Subject}, theService}
		}
	}
	return rows
}

// verifyAudit checks the chain of the audit trail against a head that was noted earlier. A broken chain is shown, not
// an error.
func verifyAudit(c *Console, r *request) (answer, error) {
	expect := parseValue(r, operator.ParseHead, r.trimmedField("expect"))
	if c.recordAction(r, "audit.verify", "", ""); r.failure != nil {
		return nil, r.failure
	}
	head, err := c.Rules.Audit.VerifyTrail(r.Context(), expect, nil)
	check := &auditCheck{Whole: err == nil, Lines: head.Seq, MAC: hex.EncodeToString(head.MAC)}
	if errors.Is(err, operator.ErrTrailBroken) {
		check.Why = sentenceOf(err).Detail
	} else if err != nil {
		return nil, err
	}
	return c.auditView(r, check)
}

// Keys are the keys that seal personal data.
type Keys interface {
	// State names the key that seals, all that open, and the file that holds them.
	State() (primary uint32, all []uint32, file string)
	// Count reads every sealed value, so it takes a while.
	Count(ctx context.Context) (current, old int64, err error)
	Rotate(ctx context.Context) error
}

// keysPage is the data of the page about the encryption keys: which key seals new values, and which others are still
// needed.
type keysPage struct {
	recentJobs
	Primary uint32
	All     []uint32
	File    string
	// Counted says that Current and Old were counted just now.
	Counted      bool
	Current, Old int64
}

// loadKeysPage returns a partner's keys as their page shows them.
func (c *Console) loadKeysPage(r *request) (page keysPage) {
	page.Primary, page.All, page.File = c.Rules.Keys.State()
	page.Jobs = c.latestJobs(r, shownJobs, seal.KindRewrite)
	return page
}

// showKeysPage shows a partner's keys.
func showKeysPage(c *Console, r *request) (answer, error) {
	return view{"keys", "Chaves de cifra", c.loadKeysPage(r)}, nil
}

// countKeys counts the values under the present key and under old ones. It reads the whole database, so it runs only
// on demand.
func countKeys(c *Console, r *request) (answer, error) {
	c.recordAction(r, "keys.status", "", "")
	page := c.loadKeysPage(r)
	page.Counted = true
	page.Current, page.Old = callRulePair(
		r,
		func(ctx context.Context, _ struct{}) (int64, int64, error) { return c.Rules.Keys.Count(ctx) },
		struct{}{},
	)
	return view{"keys", "Chaves de cifra", page}, nil
}

// rotateKeys writes the key file, which no transaction holds: the line comes first.
func rotateKeys(c *Console, r *request) (answer, error) {
	return c.recordAndRun(
		r,
		"keys.rotate",
		"",
		"",
		redirect{"/keys", "keys.rotated"},
		func() error { return c.Rules.Keys.Rotate(r.Context()) },
	)
}
