package main

import (
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// operatorCmd groups the commands on operators of the console.
type operatorCmd struct {
	Create  operatorCreateCmd  `cmd:"" help:"Make an operator and print a one-time link to choose a password with."`
	Invite  operatorInviteCmd  `cmd:"" help:"Let a partner's person into the console, to see what is the partner's, and print a one-time link."`
	List    operatorListCmd    `cmd:"" help:"List all operators, those of partners too."`
	Role    operatorRoleCmd    `cmd:"" help:"Give an operator another role."`
	Reset   operatorResetCmd   `cmd:"" help:"Take password, second factor and sessions away and print a one-time link for new ones."`
	Disable operatorDisableCmd `cmd:"" help:"Keep an operator out, at once."`
	Enable  operatorEnableCmd  `cmd:"" help:"Undo disable, or lift a lock after too many wrong tries."`
	Logout  operatorLogoutCmd  `cmd:"" help:"End all sessions of an operator."`
}

// viewOperator returns an operator as a record of output, without password and second factor.
func viewOperator(o operator.Operator) record {
	return newRecord(
		"operator_id", o.ID,
		"email", o.Email,
		"role", o.Role.Name(),
		"partner_id", o.Partner,
		"disabled", o.Disabled,
		"second_factor", o.TOTPOn,
		"created_at", o.CreatedAt,
		"last_login", o.LastLogin,
	)
}

// consoleFlag is where the console is, for links.
type consoleFlag struct {
	Console string `name:"console" env:"VIGIA_CONSOLE_URL" default:"http://127.0.0.1:8081" placeholder:"URL" help:"Where browsers find the console; the link is made with it."`
}

// showLink shows a one-time link, which exists in full only now.
func (f consoleFlag) showLink(o *output, who operator.Operator, token string, err error) error {
	if err != nil {
		return err
	}
	return o.showRecord(viewOperator(who).withPairs("link", strings.TrimSuffix(f.Console, "/")+"/link/"+token),
		"Open the link in a browser to choose a password. It works once, within 24 hours, and is shown this once.")
}

// operatorCreateCmd is 'vigia operator create'. It prints the one-time link with which the operator chooses a
// password.
type operatorCreateCmd struct {
	Email string `arg:"" help:"The person's e-mail."`
	Role  string `default:"viewer" enum:"admin,support,viewer" help:"What the person may do: admin, support, viewer."`
	consoleFlag
}

func (operatorCreateCmd) Help() string {
	return "There is no default account: the first operator is made here.\n\nExamples:\n  vigia operator create " +
		"ana@exemplo.com.br --role admin\n" +
		"  vigia operator create bia@exemplo.com.br --role support --console https://console.exemplo.com.br"
}

func (p *operatorCreateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	role, err := operator.ParseRole(p.Role)
	if err != nil {
		return err
	}
	who, token, err := a.Operators.CreateOperator(ctx, p.Email, role)
	return p.showLink(o, who, token, err)
}

// operatorInviteCmd is 'vigia operator invite', for the people of a partner.
type operatorInviteCmd struct {
	Partner partner.ID `required:"" placeholder:"PARTNER" help:"The id of the partner whose person it is."`
	Email   string     `arg:"" help:"The person's e-mail."`
	Role    string     `default:"viewer" enum:"admin,developer,attendant,officer,viewer" help:"What the person may do with what is the partner's: admin, developer, attendant, officer, viewer."`
	consoleFlag
}

func (operatorInviteCmd) Help() string {
	return "A developer looks after keys and webhooks and invites colleagues, an admin also gives keys that show " +
		"people in clear, an attendant looks\n" +
		"after people and cases, an officer answers people who ask for their data, a viewer looks.\n\nExample:\n" +
		"  vigia operator invite dev@exemplo.com.br --partner pt_... --role developer"
}

func (p *operatorInviteCmd) Run(ctx context.Context, a *app.App, o *output) error {
	role, err := operator.ParsePartnerRole(p.Role)
	if err != nil {
		return err
	}
	of, err := a.Partners.PartnerByID(ctx, p.Partner)
	if err != nil {
		return err
	}
	who, token, err := a.Operators.InvitePartnerOperator(ctx, of.ID, p.Email, role)
	return p.showLink(o, who, token, err)
}

// operatorListCmd is 'vigia operator list'.
type operatorListCmd struct{}

func (operatorListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Operators.ListOperators(ctx)
	if err != nil {
		return err
	}
	return o.listRecords(
		makeRecords(found, viewOperator),
		"No operator yet. Make one: vigia operator create ADDRESS --role admin",
	)
}

// byEmail is the flag of commands about one operator.
type byEmail struct {
	Email string `arg:"" help:"The operator's e-mail."`
}

// changeOperator finds the operator and shows what became of it.
func (b byEmail) changeOperator(
	ctx context.Context, a *app.App, o *output, fn func(who operator.Operator) (operator.Operator, error),
) error {
	who, err := a.Operators.FindByEmail(ctx, b.Email)
	if err != nil {
		return err
	}
	found, err := fn(who)
	if err != nil {
		return err
	}
	return o.showRecord(viewOperator(found))
}

// operatorRoleCmd is 'vigia operator role', which changes what an operator may do.
type operatorRoleCmd struct {
	byEmail
	Role string `required:"" enum:"admin,support,viewer,developer,attendant,officer" help:"What the person may do: admin, support, viewer; of a partner's person admin, developer, attendant, officer, viewer."`
}

func (p *operatorRoleCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return p.changeOperator(ctx, a, o, func(who operator.Operator) (operator.Operator, error) {
		role, err := who.ParseRole(p.Role)
		if err != nil {
			return who, err
		}
		return a.Operators.ChangeRole(ctx, who.ID, role)
	})
}

// operatorDisableCmd is 'vigia operator disable', which keeps an operator out at once. Their lines in the audit trail
// stay.
type operatorDisableCmd struct{ byEmail }

func (p *operatorDisableCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return p.changeOperator(ctx, a, o, func(who operator.Operator) (operator.Operator, error) {
		return a.Operators.DisableOperator(ctx, who.ID)
	})
}

// operatorEnableCmd is 'vigia operator enable'.
type operatorEnableCmd struct{ byEmail }

func (p *operatorEnableCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return p.changeOperator(
		ctx,
		a,
		o,
		func(who operator.Operator) (operator.Operator, error) { return a.Operators.EnableOperator(ctx, who.ID) },
	)
}

// operatorLogoutCmd is 'vigia operator logout', which ends all sessions of an operator.
type operatorLogoutCmd struct{ byEmail }

// Run ends the sessions of an operator.
func (p *operatorLogoutCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return p.changeOperator(ctx, a, o, func(who operator.Operator) (operator.Operator, error) {
		_, err := a.Operators.DeleteSessions(ctx, who.ID)
		return who, err
	})
}

// operatorResetCmd is 'vigia operator reset'. It is the way back for an operator who lost password or second factor.
type operatorResetCmd struct {
	byEmail
	consoleFlag
}

func (p *operatorResetCmd) Run(ctx context.Context, a *app.App, o *output) error {
	who, err := a.Operators.FindByEmail(ctx, p.Email)
	if err != nil {
		return err
	}
	who, token, err := a.Operators.ResetAccess(ctx, who.ID)
	return p.showLink(o, who, token, err)
}
