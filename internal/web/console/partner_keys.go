package console

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

const (
	keyHelp  = "O serviço guarda apenas um resumo dela. Envie ao parceiro por um canal seguro."
	saltHelp = "Com ele o parceiro calcula o userHash de cada pessoa. " +
		"Trate como uma chave: quem tem os dois descobre o CPF."
)

// keyRow is a key and how it stands.
type keyRow struct {
	partner.Key
	State string
	// Maker is how the key begins that made it; empty where a person did.
	Maker string
	// Made is how many keys in force end with it.
	Made int
	// EndsSoon says that it ends within soonEnding.
	EndsSoon bool
	// Used is the last request that came with it; zero when none of the latest thousand did.
	Used time.Time
}

// soonEnding is from when on the end of a key is told in colour.
const soonEnding = 30 * 24 * time.Hour

// newKeyRows returns keys as a page shows them.
func (c *Console) newKeyRows(keys []partner.Key, log []partner.LoggedRequest) []keyRow {
	rows := make([]keyRow, len(keys))
	for i, k := range keys {
		state := "live"
		switch {
		case !k.RevokedAt.IsZero():
			state = "revoked"
		case !k.IsLiveAt(c.Now()):
			state = "expired"
		case !k.ExpiresAt.IsZero():
			state = "ending"
		}
		rows[i] = keyRow{Key: k, State: state, EndsSoon: state == "ending" && k.ExpiresAt.Sub(c.Now()) < soonEnding}
		for _, l := range log {
			if l.Key == k.ID { // the newest comes first
				rows[i].Used = l.At
				break
			}
		}
		for _, maker := range keys {
			if maker.ID == k.MadeBy {
				rows[i].Maker = maker.Preview
			}
		}
		for _, made := range partner.Descendants(keys, k.ID) {
			if made.IsLiveAt(c.Now()) {
				rows[i].Made++
			}
		}
	}
	slices.Reverse(rows)
	return rows
}

// MadeToo says how many keys end with this one.
func (k keyRow) MadeToo() string {
	if k.Made == 0 {
		return ""
	}
	n := int64(k.Made)
	return " Com ela " + pluralWord(n, "termina ", "terminam ") +
		countWithWord(n, "chave criada por ela.", "chaves criadas por ela ou pelas que ela criou.")
}

// newKey shows the form of a new key with the scopes that it can have.
func newKey(c *Console, r *request) (answer, error) {
	p, err := c.partnerInPath(r)
	if err != nil {
		return nil, err
	}
	givers, err := c.gatherScopeGivers(r.Context(), p.ID)
	return newView("key-new", "Nova chave", keyForm{p, givers}, err)
}

// keyForm is the data of the page that makes a key.
type keyForm struct {
	partner.Partner
	scopeGivers
}

func (f keyForm) Has(scope string) bool { return slices.Contains(f.Self, partner.Scope(scope)) }

// createKey creates an API key with scopes and an optional end. The key is shown on the answer and cannot be shown
// again.
func createKey(c *Console, r *request) (answer, error) {
	id := partnerOf(r)
	form := newFormReader(r)
	chosen := slices.DeleteFunc(r.PostForm["scope"], func(s string) bool { return s == "" })
	if len(chosen) == 0 { // a command that names none gets those of the contract; here "nothing" was chosen
		form.noteFault(partner.ErrInvalid.With("scopes", fault.NameAtLeastOne))
	}
	scopes, err := partner.ParseScopes(chosen)
	form.noteFault(err)
	if r.trimmedField("label") == "" {
		form.noteFault(partner.ErrInvalid.With("label", fault.PlainLength, 200))
	}
	var expires time.Time
	if days := r.trimmedField("days"); days != "" {
		n, ok := parseWhole(days)
		if !ok || n < 1 || n > 3660 {
			form.noteFault(partner.ErrInvalid.With("days", fault.DaysOrNoEnd))
		}
		expires = c.Now().AddDate(0, 0, n)
	}
	var text string
	err = c.changeWithAudit(r, "key.create", func(ctx context.Context, in *Rules) (string, string, error) {
		k, made, err := in.Partners.CreateKey(ctx, id, r.trimmedField("label"), scopes, expires)
		text = made
		return string(k.ID), k.AuditDetail(), form.joinFaults(err)
	})
	if err != nil {
		return nil, err
	}
	return showKeyNext(r, "Chave criada", "Ela aparece só agora.", text, id)
}

// showKeyNext leads to the page that shows a partner's new API key once.
func showKeyNext(r *request, heading, text, key string, id partner.ID) (answer, error) {
	return showSecretsNext(r, secretPage{
		Heading:   heading,
		Text:      text,
		Secrets:   []shownSecret{{"Chave da API", key, keyHelp}},
		Back:      partnerPath(id),
		BackLabel: "Guardei a chave, continuar",
	})
}
