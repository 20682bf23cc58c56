package console

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

const (
	keyHelp  = "O serviço guarda apenas um resumo dela. Envie ao parceiro por um canal seguro."
	saltHelp = "Com ele o parceiro calcula o userHash de cada pessoa. Trate como uma chave: quem tem os dois descobre o CPF."
)

// keyRow is a key and how it stands.
type keyRow struct {
	partner.Key
	State string
	// Maker is how the key begins that made it; empty where a person did.
	Maker string
	// Made is how many keys in force end with it.
	Made int
	// Used is the last request that came with it; zero when none of the latest thousand did.
	Used time.Time
}

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
		rows[i] = keyRow{Key: k, State: state}
		if at := slices.IndexFunc(
			log,
			func(l partner.LoggedRequest) bool { return l.Key == k.ID },
		); at >= 0 { // the newest comes first
			rows[i].Used = log[at].At
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
	return " Com ela " + pluralWord(int64(k.Made), "termina ", "terminam ") + countWithWord(int64(k.Made), "chave criada por ela.", "chaves criadas por ela ou pelas que ela criou.")
}

// ScopeNames joins the scopes of a key.
func (k keyRow) ScopeNames() string {
	return strings.Join(mapList(k.Scopes, func(s partner.Scope) string { return string(s) }), ", ")
}

// createPartnerKey makes a key and shows it once.
func createPartnerKey(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.PathValue("id")))
	return view{"key-new", "Nova chave", keyForm{p, callRuleWith(r, c.Rules.Partners.GrantableScopes, p.ID)}}, nil
}

// keyForm is the data of the page that makes a key.
type keyForm struct {
	partner.Partner
	Scopes []partner.Scope
}

// Has reports whether a scope can be given.
func (f keyForm) Has(scope string) bool { return slices.Contains(f.Scopes, partner.Scope(scope)) }

// createKey creates an API key with scopes and an optional end. The key is shown on the answer and cannot be shown
// again.
func createKey(c *Console, r *request) (answer, error) {
	id := partner.ID(r.PathValue("id"))
	scopes, err := partner.ParseScopes(slices.DeleteFunc(r.PostForm["scope"], func(s string) bool { return s == "" }))
	r.noteFormError(err)
	if r.trimmedField("label") == "" {
		r.noteFormError(partner.ErrInvalid.With("label", fault.PlainLength, 200))
	}
	var expires time.Time
	if days := r.trimmedField("days"); days != "" {
		n, ok := parseWhole(days)
		if !ok || n < 1 || n > 3660 {
			r.noteFormError(partner.ErrInvalid.With("days", fault.DaysOrNoEnd))
		}
		expires = c.Now().AddDate(0, 0, n)
	}
	var text string
	c.changeWithAudit(r, "key.create", func(ctx context.Context, in *Rules) (string, string, error) {
		k, made, err := in.Partners.CreateKey(ctx, id, r.trimmedField("label"), scopes, expires)
		text = made
		return string(k.ID), string(id), err
	})
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

// rollPage is the data of the page that asks before a key is replaced.
type rollPage struct {
	Partner partner.Partner
	Key     keyRow
}

// confirmRoll asks for confirmation before a key is replaced, because the partner has to install the new one.
func confirmRoll(c *Console, r *request) (answer, error) {
	id := partner.ID(r.PathValue("id"))
	p := callRuleWith(r, c.Rules.Partners.GetPartner, id)
	keys := callRuleWith(r, c.Rules.Partners.ListKeys, id)
	for _, k := range c.newKeyRows(keys, nil) {
		if string(k.ID) == r.PathValue("key") {
			return view{"key-roll", "Trocar chave", rollPage{p, k}}, nil
		}
	}
	return nil, partner.ErrKeyNotFound
}

// replaceKey replaces a key and shows the new one once.
func replaceKey(c *Console, r *request) (answer, error) {
	id := partner.ID(r.PathValue("id"))
	hours, ok := parseWhole(r.trimmedField("hours"))
	if !ok {
		return nil, partner.ErrInvalid.With("hours", fault.ZeroTo, 168)
	}
	var text string
	c.changeWithAudit(r, "key.roll", func(ctx context.Context, in *Rules) (string, string, error) {
		_, made, err := in.Partners.RollKey(ctx, id, partner.KeyID(r.PathValue("key")), time.Duration(hours)*time.Hour)
		text = made
		return r.PathValue("key"), string(id), err
	})
	return showKeyNext(
		r,
		"Chave trocada",
		"A chave antiga vale por mais "+strconv.Itoa(hours)+" h. A nova aparece só agora.",
		text,
		id,
	)
}

// revokeKey ends a key at once, with the keys that were made by it; the trail names all of them.
func revokeKey(c *Console, r *request) (answer, error) {
	id := partner.ID(r.PathValue("id"))
	return c.changeAndRedirect(
		r,
		"key.revoke",
		redirect{partnerPath(id), "key.revoked"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			ended, err := in.Partners.RevokeKey(ctx, id, partner.KeyID(r.PathValue("key")))
			return r.PathValue("key"), partner.JoinKeyIDs(ended), err
		},
	)
}
