package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// listPartners shows all partners, newest first, and marks those whose first looks need the operator's attention.
func listPartners(c *Console, r *request) (answer, error) {
	rows, err := c.gatherPartners(r.Context())
	if err != nil {
		return nil, err
	}
	charts, err := c.picturePartners(r.Context(), rows, parsePeriod(r))
	if err != nil {
		return nil, err
	}
	r.addPictures(charts...)
	return view{"partners", "Parceiros", rows}, nil
}

// gatherPartners returns all partners, newest first.
func (c *Console) gatherPartners(ctx context.Context) ([]partnerRow, error) {
	all, err := c.Rules.Partners.ListPartners(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]partnerRow, len(all))
	for i, p := range all {
		row := partnerRow{Partner: p}
		if p.Mode == partner.Live && !p.Forged {
			status, err := c.Rules.FirstLooks.LookStatus(ctx, p.ID, p.Settings)
			if err != nil {
				return nil, err
			}
			row.LookState = status.State()
		}
		rows[len(all)-1-i] = row
	}
	return rows, nil
}

// partnerRow is a partner and how it stands with its first looks; a sandbox has no state.
type partnerRow struct {
	partner.Partner
	LookState cyber.LookState
}

// newPartner shows an empty form for a partner.
func newPartner(*Console, *request) (answer, error) {
	return view{"partner-new", "Novo parceiro", partner.Settings{}}, nil
}

// createPartner creates a partner with its first key. The key is shown on the answer and cannot be shown again.
func createPartner(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	settings := form.readSettings()
	mode := partner.Live
	if r.trimmedField("mode") == string(partner.Sandbox) {
		mode = partner.Sandbox
	}
	form.noteFault(partner.Partner{Mode: mode, Settings: settings}.CheckSize())
	var made partner.Partner
	var cred partner.Credentials
	err := c.changeWithAudit(r, "partner.create", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		made, cred, err = in.Partners.CreatePartner(ctx, r.trimmedField("name"), mode, settings)
		if err = form.joinFaults(err); err != nil {
			return "", "", err
		}
		err = in.Audit.RecordAction(ctx, r.auditActor(), "key.create", string(cred.Key.ID), cred.Key.AuditDetail())
		return string(made.ID), string(mode), err
	})
	if err != nil {
		return nil, err
	}
	return showSecretsNext(r, secretPage{
		Heading:   "Parceiro criado",
		Text:      made.Name + " já pode chamar a API. A chave e o sal aparecem só agora.",
		Secrets:   []shownSecret{{"Chave da API", cred.APIKey, keyHelp}, {"Sal", cred.Salt, saltHelp}},
		Back:      partnerPath(made.ID),
		BackLabel: "Guardei os dois, continuar",
	})
}

// readSettings reads the fields that creation and change of a partner share.
func (f *formReader) readSettings() partner.Settings {
	perHour, err := partner.ParseLooksPerHour(f.trimmedField("first_looks_per_hour"))
	f.noteFault(err)
	return partner.Settings{
		RatePerSecond:     f.readNumber("rate", 0),
		Burst:             f.readNumber("burst", 0),
		DefaultPlan:       f.trimmedField("default_plan"),
		MaskCards:         f.PostForm.Has("mask_cards"),
		Sites:             partner.JoinSiteList([]string{f.trimmedField("sites")}),
		WatchedSites:      partner.JoinSiteList([]string{f.trimmedField("watched_sites")}),
		People:            f.readNumber("people", 0),
		FirstLooksPerHour: perHour,
		SandboxOf:         partner.ID(f.trimmedField("sandbox_of")),
		Officer:           f.trimmedField("officer"),
	}
}
