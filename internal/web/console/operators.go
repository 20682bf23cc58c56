package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// errSelf keeps people from shutting themselves out.
var errSelf = fault.New(fault.Conflict, "operator.self")

// listOperators shows the operators; for a partner's people, those of their partner only.
func listOperators(c *Console, r *request) (answer, error) {
	rows, err := c.Rules.Operators.ListOperators(r.Context())
	if err != nil {
		return nil, err
	}
	names, err := c.partnerNames(r.Context(), r.viewer)
	home := r.scope.home.ID
	return newView("operators", "Operadores", operatorsPage{rows, names, home, r.scope.at.ID == home}, err)
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
		Back:      joinPath("operators", o.ID),
		BackLabel: "Copiei o link, continuar",
	})
}

// createOperator creates an operator and shows the one-time link with which they choose a password.
func createOperator(c *Console, r *request) (answer, error) {
	role, err := operator.ParseRole(r.trimmedField("role"))
	if err != nil {
		return nil, err
	}
	var made operator.Operator
	var token string
	err = c.changeWithAudit(r, "operator.create", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		made, token, err = in.Operators.CreateOperator(ctx, r.trimmedField("email"), role)
		return string(made.ID), string(role), err
	})
	if err != nil {
		return nil, err
	}
	return c.oneTimeLink(r, made, "Operador criado", token)
}
