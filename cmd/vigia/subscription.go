package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/draft"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

type subscriptionCmd struct {
	End     subscriptionEndCmd     `cmd:"" help:"End subscriptions now."`
	Suspend subscriptionSuspendCmd `cmd:"" help:"Pause the cover of subscriptions; they stay in the partner's list."`
	Resume  subscriptionResumeCmd  `cmd:"" help:"Undo suspend."`
	Import  subscriptionImportCmd  `cmd:"" help:"Create subscriptions from a CSV or JSON-lines file."`
}

// selectionFlags say which subscriptions a command is about.
type selectionFlags struct {
	Partner string   `required:"" placeholder:"ID" help:"The partner's id."`
	Plan    string   `placeholder:"PLAN" help:"One subscription: its plan..."`
	CPF     personal `name:"cpf" placeholder:"CPF" help:"...and its beneficiary's CPF; '-' reads it from standard input, '@FILE' from a file."`
	Holder  string   `placeholder:"CNPJ" help:"All subscriptions of a benefit holder."`
	File    string   `placeholder:"FILE.csv" help:"All subscriptions of a table with the columns plan_id and cpf."`
}

const selectionHelp = "Name one subscription (--plan and --cpf), a company (--holder), or a table (--file, columns plan_id and cpf).\n" +
	"Each change is announced to the partner by an event.\n\nExamples:\n" +
	"  vigia subscription %[1]s --partner pt_... --plan ouro --cpf 52998224725\n" +
	"  vigia subscription %[1]s --partner pt_... --holder 12ABC34501DE35\n" +
	"  vigia subscription %[1]s --partner pt_... --file saidas.csv --json"

type subscriptionEndCmd struct{ selectionFlags }

// Help shows examples.
func (subscriptionEndCmd) Help() string { return fmt.Sprintf(selectionHelp, "end") }

// Run ends subscriptions.
func (s *subscriptionEndCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return s.move(ctx, c, o, subscription.End, "ended")
}

type subscriptionSuspendCmd struct{ selectionFlags }

// Help shows examples.
func (subscriptionSuspendCmd) Help() string { return fmt.Sprintf(selectionHelp, "suspend") }

// Run suspends subscriptions.
func (s *subscriptionSuspendCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return s.move(ctx, c, o, subscription.Suspend, "suspended")
}

type subscriptionResumeCmd struct{ selectionFlags }

// Help shows examples.
func (subscriptionResumeCmd) Help() string { return fmt.Sprintf(selectionHelp, "resume") }

// Run resumes subscriptions.
func (s *subscriptionResumeCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return s.move(ctx, c, o, subscription.Resume, "resumed")
}

// movedView is what a move did.
type movedView struct {
	Found    int `json:"found"`
	Changed  int `json:"changed"`
	NotFound int `json:"not_found"`
	// Lines are the lines of the file whose subscription was not found.
	Lines []int `json:"not_found_lines,omitempty"`
}

func (f *selectionFlags) move(ctx context.Context, c *config.Common, o *output, move subscription.Move, done string) error {
	if f.File != "" && (f.Plan != "" || f.CPF != "" || f.Holder != "") {
		return subscription.ErrSelection.With("--file: not together with --plan, --cpf or --holder")
	}
	return withApp(ctx, c, func(a *app.App) error {
		if _, err := a.Partners.Partner(ctx, partner.ID(f.Partner)); err != nil {
			return err
		}
		var view movedView
		var err error
		if f.File != "" {
			view, err = f.moveFile(ctx, a, o, move)
		} else {
			var moved subscription.Moved
			moved, err = a.Subscriptions.Move(ctx, partner.ID(f.Partner), f.selection(), move)
			view.Found, view.Changed = moved.Found, moved.Changed
		}
		if err != nil {
			return err
		}
		return o.print(view, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "%d %s, %d already were.\n", view.Changed, done, view.Found-view.Changed)
			if view.NotFound > 0 {
				_, _ = fmt.Fprintf(w, "%d not found, lines %v.\n", view.NotFound, view.Lines)
			}
		})
	})
}

func (f *selectionFlags) selection() subscription.Selection {
	return subscription.Selection{Plan: plan.ID(f.Plan), CPF: string(f.CPF), Holder: f.Holder}
}

// moveFile moves the subscriptions of a table.
func (f *selectionFlags) moveFile(ctx context.Context, a *app.App, o *output, move subscription.Move) (view movedView, err error) {
	file, err := os.Open(f.File)
	if err != nil {
		return view, fmt.Errorf("--file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	table, err := draft.NewCSV(file)
	if err != nil {
		return view, err
	}
	bar := o.progress("subscriptions", "lines")
	defer bar.end()
	moved, err := a.Subscriptions.MoveTable(ctx, partner.ID(f.Partner), table, move, func(lines int64, t subscription.MovedTable) {
		bar.set(lines, 0, fmt.Sprintf("%d changed", t.Changed))
	})
	return movedView{moved.Found, moved.Changed, moved.NotFound, moved.Lines}, err
}
