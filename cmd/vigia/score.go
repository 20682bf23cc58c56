package main

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
)

type scoreCmd struct {
	History scoreHistoryCmd `cmd:"" help:"The days on which a person's score changed."`
}

type scoreHistoryCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner."`
	User    string `required:"" name:"user-hash" placeholder:"HASH" help:"The person, as the partner names them."`
}

type scoreDayView struct {
	Day        string  `json:"day"`
	Breach     float64 `json:"breach_score"`
	Assessment float64 `json:"assessment_score"`
}

// Help shows examples.
func (scoreHistoryCmd) Help() string {
	return "A day without a line has the score of the line before it.\n\nExample:\n  vigia score history --partner pt_... --user-hash e3d5a0..."
}

// Run shows the history.
func (s *scoreHistoryCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	user, err := partner.ParseUserHash("user-hash", s.User)
	if err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		days, err := a.Persons(nil).History(ctx, partner.ID(s.Partner), user)
		if err != nil {
			return err
		}
		t := table[scoreDayView]{heading: "DAY\tBREACH\tASSESSMENT"}
		for _, d := range days {
			v := scoreDayView{d.Date().Format(time.DateOnly), float64(d.Breach) / 10, float64(d.Assessment) / 10}
			t.add(v, v.Day, fmt.Sprintf("%.1f", v.Breach), fmt.Sprintf("%.1f", v.Assessment))
		}
		return t.print(o)
	})
}
