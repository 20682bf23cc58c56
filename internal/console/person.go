package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// personPage is a person as a partner names them: what is watched, masked, and how the score went.
type personPage struct {
	Partner partner.Partner
	User    partner.UserHash
	Assets  []cyber.Asset
	Scores  []cyber.ScoreDay
}

// personOf reads a partner and a user hash from a form: a POST, so that the hash stands in no address, history or log.
func (c *Console) personOf(r *request) (partner.Partner, partner.UserHash, error) {
	user, err := partner.ParseUserHash("user_hash", r.text("user_hash"))
	if err != nil {
		return partner.Partner{}, "", err
	}
	p, err := c.Rules.Partners.Partner(r.Context(), partner.ID(r.text("partner")))
	return p, user, err
}

func findPerson(c *Console, r *request) (answer, error) {
	p, user, err := c.personOf(r)
	if err != nil {
		return nil, err
	}
	if err := c.note(r, "asset.list", c.Rules.Subjects.Ref(subject.Person{User: user, Partner: p.ID}), ""); err != nil {
		return nil, err
	}
	page := personPage{Partner: p, User: user}
	if page.Assets, err = c.Rules.Monitoring.Watched(r.Context(), p.ID, user); err != nil {
		return nil, err
	}
	if page.Scores, err = c.Rules.Persons.History(r.Context(), p.ID, user); err != nil {
		return nil, err
	}
	return view{"person", "Pessoa", page}, nil
}

func watchValue(c *Console, r *request) (answer, error) {
	p, user, err := c.personOf(r)
	if err != nil {
		return nil, err
	}
	kind := r.text("type")
	err = c.change(r, "asset.add", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Monitoring.WatchOf(ctx, cyber.Owner{Partner: p.ID, Mode: p.Mode}, user, cyber.OperatorAdds, kind, r.text("value"))
		return in.Subjects.Ref(subject.Person{User: user, Partner: p.ID}), kind, err
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/monitoring?status=monitorado", "asset.added"}, nil
}
