package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

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

type operatorView struct {
	ID        string `json:"operator_id"`
	Email     string `json:"email"`
	Role      string `json:"role"`
	Partner   string `json:"partner_id,omitempty"`
	Disabled  bool   `json:"disabled"`
	TOTP      bool   `json:"second_factor"`
	CreatedAt string `json:"created_at"`
	LastLogin string `json:"last_login"`
}

func viewOperator(o operator.Operator) operatorView {
	return operatorView{string(o.ID), o.Email, o.Role.Name(), string(o.Partner), o.Disabled, o.TOTPOn, stamp(o.CreatedAt), stamp(o.LastLogin)}
}

func (o *output) operator(who operator.Operator) error {
	v := viewOperator(who)
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Operator       %s\nE-mail         %s\nRole           %s\n", v.ID, v.Email, v.Role)
		if v.Partner != "" {
			_, _ = fmt.Fprintf(w, "Partner        %s\n", v.Partner)
		}
		_, _ = fmt.Fprintf(w, "Disabled       %t\nSecond factor  %t\nLast login     %s\n", v.Disabled, v.TOTP, v.LastLogin)
	})
}

// link shows a one-time link, which exists in full only now.
func (o *output) link(who operator.Operator, console, token string) error {
	address := linkAddress(console, token)
	view := struct {
		operatorView
		Link string `json:"link"`
	}{viewOperator(who), address}
	return o.print(view, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Operator  %s (%s, %s)\nLink      %s\n\nOpen it in a browser to choose a password. It works once, within 24 hours, and is shown this once.\n",
			who.ID, who.Email, who.Role.Name(), address)
	})
}

func linkAddress(console, token string) string {
	return strings.TrimSuffix(console, "/") + "/link/" + token
}

// consoleFlag is where the console is, for links.
type consoleFlag struct {
	Console string `name:"console" env:"VIGIA_CONSOLE_URL" default:"http://127.0.0.1:8081" placeholder:"URL" help:"Where browsers find the console; the link is made with it."`
}

type operatorCreateCmd struct {
	Email string `required:"" placeholder:"ADDRESS" help:"The person's e-mail."`
	Role  string `default:"viewer" enum:"admin,support,viewer" help:"What the person may do: admin, support, viewer."`
	consoleFlag
}

// Help shows examples.
func (operatorCreateCmd) Help() string {
	return "There is no default account: the first operator is made here.\n\nExamples:\n  vigia operator create --email ana@exemplo.com.br --role admin\n" +
		"  vigia operator create --email bia@exemplo.com.br --role support --console https://console.exemplo.com.br"
}

// Run creates an operator.
func (p *operatorCreateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		role, err := operator.ParseRole(p.Role)
		if err != nil {
			return err
		}
		who, token, err := a.Operators.Create(ctx, p.Email, role)
		if err != nil {
			return err
		}
		return o.link(who, p.Console, token)
	})
}

type operatorInviteCmd struct {
	Partner string `required:"" placeholder:"PARTNER" help:"The id of the partner whose person it is."`
	Email   string `required:"" placeholder:"ADDRESS" help:"The person's e-mail."`
	Role    string `default:"viewer" enum:"admin,developer,attendant,viewer" help:"What the person may do with what is the partner's: admin, developer, attendant, viewer."`
	consoleFlag
}

// Help shows examples.
func (operatorInviteCmd) Help() string {
	return "A developer looks after keys and webhooks and invites colleagues, an admin also gives keys that show people in clear, an attendant looks\n" +
		"after people and cases, a viewer looks.\n\nExample:\n" +
		"  vigia operator invite --partner pt_... --email dev@exemplo.com.br --role developer"
}

// Run invites a partner's person.
func (p *operatorInviteCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		role, err := operator.ParsePartnerRole(p.Role)
		if err != nil {
			return err
		}
		of, err := a.Partners.Partner(ctx, partner.ID(p.Partner))
		if err != nil {
			return err
		}
		who, token, err := a.Operators.Invite(ctx, of.ID, p.Email, role)
		if err != nil {
			return err
		}
		return o.link(who, p.Console, token)
	})
}

type operatorListCmd struct{}

// Run lists the operators.
func (operatorListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Operators.Operators(ctx)
		if err != nil {
			return err
		}
		t := table[operatorView]{heading: "OPERATOR\tROLE\tPARTNER\tDISABLED\tSECOND FACTOR\tLAST LOGIN\tE-MAIL", none: "No operator yet. Make one: vigia operator create --email ADDRESS --role admin"}
		for _, who := range all {
			v := viewOperator(who)
			t.add(v, v.ID, v.Role, v.Partner, v.Disabled, v.TOTP, v.LastLogin, v.Email)
		}
		return t.print(o)
	})
}

// byEmail is the flag of commands about one operator.
type byEmail struct {
	Email string `required:"" placeholder:"ADDRESS" help:"The operator's e-mail."`
}

// change finds the operator and shows what became of it.
func (b byEmail) change(ctx context.Context, c *config.Common, o *output, fn func(a *app.App, id operator.ID) (operator.Operator, error)) error {
	return withApp(ctx, c, func(a *app.App) error {
		who, err := a.Operators.ByEmail(ctx, b.Email)
		if err != nil {
			return err
		}
		changed, err := fn(a, who.ID)
		if err != nil {
			return err
		}
		return o.operator(changed)
	})
}

type operatorRoleCmd struct {
	byEmail
	Role string `required:"" enum:"admin,support,viewer,developer,attendant" help:"What the person may do: admin, support, viewer; of a partner's person admin, developer, attendant, viewer."`
}

// Run changes a role.
func (p *operatorRoleCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return p.change(ctx, c, o, func(a *app.App, id operator.ID) (operator.Operator, error) {
		who, err := a.Operators.Operator(ctx, id)
		if err != nil {
			return who, err
		}
		role, err := who.ParseRole(p.Role)
		if err != nil {
			return who, err
		}
		return a.Operators.SetRole(ctx, id, role)
	})
}

type operatorDisableCmd struct{ byEmail }

// Run disables an operator.
func (p *operatorDisableCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return p.change(ctx, c, o, func(a *app.App, id operator.ID) (operator.Operator, error) { return a.Operators.Disable(ctx, id) })
}

type operatorEnableCmd struct{ byEmail }

// Run enables an operator.
func (p *operatorEnableCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return p.change(ctx, c, o, func(a *app.App, id operator.ID) (operator.Operator, error) { return a.Operators.Enable(ctx, id) })
}

type operatorLogoutCmd struct{ byEmail }

// Run ends the sessions of an operator.
func (p *operatorLogoutCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return p.change(ctx, c, o, func(a *app.App, id operator.ID) (operator.Operator, error) {
		if _, err := a.Operators.LogoutEverywhere(ctx, id); err != nil {
			return operator.Operator{}, err
		}
		return a.Operators.Operator(ctx, id)
	})
}

type operatorResetCmd struct {
	byEmail
	consoleFlag
}

// Run resets an operator.
func (p *operatorResetCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		who, err := a.Operators.ByEmail(ctx, p.Email)
		if err != nil {
			return err
		}
		who, token, err := a.Operators.Reset(ctx, who.ID)
		if err != nil {
			return err
		}
		return o.link(who, p.Console, token)
	})
}
