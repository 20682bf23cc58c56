package console

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// listPartners shows all partners, newest first, and marks those whose first looks need the operator's attention.
func listPartners(c *Console, r *request) (answer, error) {
	rows, err := c.gatherPartners(r.Context())
	if err != nil {
		return nil, err
	}
	all := mapList(rows, func(row partnerRow) partner.Partner { return row.Partner })
	c.picturePartners(r, all)
	return view{"partners", "Parceiros", rows}, nil
}

// gatherPartners returns all partners, newest first.
func (c *Console) gatherPartners(ctx context.Context) ([]partnerRow, error) {
	all, err := c.Rules.Partners.ListPartners(ctx)
	if err != nil {
		return nil, err
	}
	figures, err := c.Rules.FirstLooks.CompareLooks(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]partnerRow, len(all))
	for i, p := range all {
		row := partnerRow{Partner: p, LooksUnusual: len(figures[p.ID].Unusual) > 0}
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
	LookState    cyber.LookState
	LooksUnusual bool
}

// newPartner shows an empty form for a partner.
func newPartner(*Console, *request) (answer, error) {
	return view{"partner-new", "Novo parceiro", partner.Settings{}}, nil
}

// secretPage shows secrets that exist in full only now.
type secretPage struct {
	Heading, Text string
	Secrets       []shownSecret
	Back          string
	BackLabel     string
}

// shownSecret is a secret on the page that shows it once; Help says what it is for.
type shownSecret struct{ Label, Value, Help string }

// secretCookie carries a page of secrets from the form that made them to the page that shows them, so that the browser's Back
// and Reload send no form again. It is sealed by the session's token, which the server does not keep, and lasts for minutes.
const (
	secretCookie = "__Host-vigia-secret" //nolint:gosec // a name
	secretTime   = 5 * time.Minute
)

// showSecretsNext leads to the page of secrets that were made just now. Nothing of them stays on the server.
func showSecretsNext(r *request, p secretPage) (answer, error) {
	if r.failure != nil {
		return nil, r.failure
	}
	sealer, err := r.secretSealer()
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	sealed := sealer.Seal(nil, nil, plain, nil) //nolint:gosec // the cipher draws the nonce itself
	r.kept = &http.Cookie{
		Name:     secretCookie,
		Value:    base64.RawURLEncoding.EncodeToString(sealed),
		Path:     "/",
		MaxAge:   int(secretTime / time.Second),
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
	return redirect{to: "/secret"}, nil
}

// secretSealer returns the cipher of the session's page of secrets.
func (r *request) secretSealer() (cipher.AEAD, error) {
	cookie, err := r.Cookie(cookieName)
	if r.cookie != nil && r.cookie.MaxAge >= 0 { // a session that begins with this answer
		cookie, err = r.cookie, nil
	}
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte("secret page " + cookie.Value))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// showSecrets shows the secrets that the session made last, for a few minutes.
func showSecrets(_ *Console, r *request) (answer, error) {
	cookie, err := r.Cookie(secretCookie)
	if err != nil {
		return redirect{to: "/"}, nil //nolint:nilerr // the time to read them is over
	}
	sealer, err := r.secretSealer()
	if err != nil {
		return nil, err
	}
	var page secretPage
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err == nil {
		sealed, err = sealer.Open(nil, nil, sealed, nil)
	}
	if err == nil {
		err = json.Unmarshal(sealed, &page)
	}
	if err != nil {
		return redirect{to: "/"}, nil //nolint:nilerr // those of another session
	}
	return view{"secret", page.Heading, page}, nil
}

const (
	keyHelp  = "O serviço guarda apenas um resumo dela. Envie ao parceiro por um canal seguro."
	saltHelp = "Com ele o parceiro calcula o userHash de cada pessoa. Trate como uma chave: quem tem os dois descobre o CPF."
)

// createPartner creates a partner with its first key. The key is shown on the answer and cannot be shown again.
func createPartner(c *Console, r *request) (answer, error) {
	settings := settingsOf(r)
	mode := partner.Live
	if r.trimmedField("mode") == string(partner.Sandbox) {
		mode = partner.Sandbox
	}
	var made partner.Partner
	var cred partner.Credentials
	c.changeWithAudit(r, "partner.create", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		made, cred, err = in.Partners.CreatePartner(ctx, r.trimmedField("name"), mode, settings)
		return string(made.ID), string(mode), err
	})
	return showSecretsNext(r, secretPage{
		Heading: "Parceiro criado", Text: made.Name + " já pode chamar a API. A chave e o salt aparecem só agora.",
		Secrets: []shownSecret{{"Chave da API", cred.APIKey, keyHelp}, {"Salt", cred.Salt, saltHelp}},
		Back:    partnerPath(made.ID), BackLabel: "Guardei os dois, continuar",
	})
}

// partnerPath returns the path of a partner's page.
func partnerPath(id partner.ID) string { return "/partners/" + url.PathEscape(string(id)) }

// settingsOf reads the fields that creation and change share.
func settingsOf(r *request) partner.Settings {
	perHour, err := partner.ParseLooksPerHour(r.trimmedField("first_looks_per_hour"))
	if err != nil {
		r.noteFormError(err)
	}
	return partner.Settings{
		RatePerSecond:     r.readNumber("rate", 0),
		Burst:             r.readNumber("burst", 0),
		DefaultPlan:       r.trimmedField("default_plan"),
		MaskCards:         r.PostForm.Has("mask_cards"),
		Sites:             partner.JoinSiteList([]string{r.trimmedField("sites")}),
		WatchedSites:      partner.JoinSiteList([]string{r.trimmedField("watched_sites")}),
		People:            r.readNumber("people", 0),
		FirstLooksPerHour: perHour,
		SandboxOf:         partner.ID(r.trimmedField("sandbox_of")),
		Officer:           r.trimmedField("officer"),
	}
}

// partnerPage is the data of a partner's page.
type partnerPage struct {
	partner.Partner
	Keys     []keyRow
	Webhooks []alert.Endpoint
	// Looks is how the partner stands with its first looks, and Figures what they came to; a sandbox has none.
	Looks   cyber.LookStatus
	Figures cyber.LookFigures
}

// LooksField returns what the form shows for first looks in an hour.
func (p partnerPage) LooksField() string {
	switch p.Settings.FirstLooksPerHour {
	case partner.LooksBySize:
		return ""
	case partner.NoFirstLooks:
		return "0"
	default:
		return strconv.Itoa(p.Settings.FirstLooksPerHour)
	}
}

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

// showPartner shows a partner with its keys, its webhooks and the state of its first looks.
func showPartner(c *Console, r *request) (answer, error) {
	id := partner.ID(r.PathValue("id"))
	p := callRuleWith(r, c.Rules.Partners.GetPartner, id)
	keys := callRuleWith(r, c.Rules.Partners.ListKeys, id)
	log := callRuleWith2(r, c.Rules.Meter.LatestRequests, p.ID, false)
	page := partnerPage{
		Partner: p, Keys: c.newKeyRows(keys, log), Webhooks: callRuleWith(r, c.Rules.Webhooks.ListEndpoints, id),
		Looks: callRuleWith2(r, c.Rules.FirstLooks.LookStatus, id, p.Settings),
	}
	if r.scope.at.ID == "" { // a partner does not see what is usual for others
		figures, err := c.Rules.FirstLooks.CompareLooks(r.Context())
		if err != nil {
			return nil, err
		}
		page.Figures = figures[id]
	}
	return view{"partner", p.Name, page}, nil
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

// savePartner changes the name and the settings of a partner.
var savePartner = changeHandler(
	"partner.set",
	"id",
	"/partners/{id}",
	"partner.saved",
	func(r *request, in *Rules, id partner.ID) (string, error) {
		settings := settingsOf(r)
		_, err := in.Partners.UpdatePartner(
			r.Context(),
			id,
			func(p *partner.Partner) { p.Name, p.Settings = r.trimmedField("name"), settings },
		)
		return "", err
	},
)

// suspendPartner refuses all requests of a partner until it is resumed. Its data stay.
var suspendPartner = changePartner("partner.suspend", "partner.suspended", (*partner.Registry).SuspendPartner)

// resumePartner lets a suspended partner use the API again.
var resumePartner = changePartner("partner.resume", "partner.resumed", (*partner.Registry).ResumePartner)

// changePartner makes the handler of a change that needs nothing but the partner's id.
func changePartner(
	action, done string,
	change func(*partner.Registry, context.Context, partner.ID) (partner.Partner, error),
) handler {
	return changeHandler(
		action,
		"id",
		"/partners/{id}",
		done,
		func(r *request, in *Rules, id partner.ID) (string, error) {
			_, err := change(in.Partners, r.Context(), id)
			return "", err
		},
	)
}

// grantLooks grants a partner more first looks, for the time when it brings its customers.
var grantLooks = changeHandler(
	"partner.grant-looks",
	"id",
	"/partners/{id}",
	"partner.looks_granted",
	func(r *request, in *Rules, id partner.ID) (string, error) {
		count, ok := parseWhole(r.trimmedField("count"))
		if !ok {
			return "", cyber.ErrLooksInvalid.With("count", fault.OneTo, cyber.MaxGrant)
		}
		return strconv.Itoa(count), in.FirstLooks.GrantLooks(r.Context(), id, int64(count))
	},
)

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

// plansPage is the data of the list of a partner's plans.
type plansPage struct {
	partnerChoice
	Plans []plan.Plan
}

// listPlans shows the plans of the chosen partner; without a partner only the choice of one.
func listPlans(c *Console, r *request) (answer, error) {
	page := plansPage{partnerChoice: c.choosePartner(r)}
	if page.Current.ID != "" {
		page.Plans = callRuleWith(r, c.Rules.Plans.ListPlans, page.Current.ID)
	}
	return view{"plans", "Planos", page}, nil
}

// planPage is the form of a plan, new or not.
type planPage struct {
	Partner partner.Partner
	plan.Plan
	New bool
	// Limit and SubLimits are as people write them.
	Limit, SubLimits, Types string
	Path                    string
}

// showNewPlan shows the form of a new plan.
func showNewPlan(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	return view{"plan", "Novo plano", planPage{Partner: p, New: true, Path: joinPath("plans", string(p.ID), "new")}}, nil
}

// showPlanPage shows a plan.
func showPlanPage(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	one := callRuleWith2(r, c.Rules.Plans.GetPlan, p.ID, plan.ID(r.PathValue("plan")))
	page := planPage{
		Partner: p, Plan: one, Limit: formatReais(one.Coverage.Limit), Types: strings.Join(one.Coverage.Types, "\n"),
		Path: joinPath("plans", string(p.ID), "edit", string(one.ID)),
	}
	page.SubLimits = strings.Join(
		mapList(one.Coverage.SubLimits, func(s plan.SubLimit) string { return s.Name + ": " + formatReais(s.Limit) }),
		"\n",
	)
	return view{"plan", one.Name, page}, nil
}

// formatReais writes an amount as people do: 50.000 or 50.000,50.
func formatReais(m plan.Money) string {
	text := groupedNumber(int64(m) / 100)
	if cents := int64(m) % 100; cents != 0 {
		text += "," + strconv.Itoa(int(cents/10)) + strconv.Itoa(int(cents%10))
	}
	return text
}

// parsePlanForm fills a plan from the form.
func parsePlanForm(r *request, p *plan.Plan) {
	limit, err := parseReais("limit", r.trimmedField("limit"))
	r.noteFormError(err)
	p.MaxDevices, p.KeyDays = r.readNumber("max_devices", 0), r.readNumber("key_days", 0)
	p.Name, p.KeysEndWithSubscription = r.trimmedField("name"), r.PostForm.Has("keys_end")
	p.Coverage = plan.Coverage{
		Plan:        r.trimmedField("coverage_plan"),
		Limit:       limit,
		Types:       splitLines(r.trimmedField("types")),
		Conditions:  r.trimmedField("conditions"),
		Exclusions:  r.trimmedField("exclusions"),
		WaitingDays: r.readNumber("waiting_days", 0),
	}
	for _, line := range splitLines(r.trimmedField("sub_limits")) {
		name, amount, _ := strings.Cut(line, ":")
		m, err := parseReais("sub limits", amount)
		r.noteFormError(err)
		p.Coverage.SubLimits = append(p.Coverage.SubLimits, plan.SubLimit{Name: strings.TrimSpace(name), Limit: m})
	}
}

// splitLines splits a text area, without empty lines.
func splitLines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// createPlan creates a plan for the partner in the path, under the id in the form.
func createPlan(c *Console, r *request) (answer, error) {
	p := plan.Plan{ID: plan.ID(r.trimmedField("id")), Partner: partnerOf(r)}
	parsePlanForm(r, &p)
	return c.changeAndRedirect(
		r,
		"plan.create",
		redirect{"/plans?partner=" + url.QueryEscape(string(p.Partner)), "plan.saved"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			made, err := in.Plans.CreatePlan(ctx, p)
			return string(p.Partner), string(made.ID), err
		},
	)
}

// savePlanForm keeps what the form of a plan says.
func savePlanForm(c *Console, r *request) (answer, error) {
	id, name := partnerOf(r), plan.ID(r.PathValue("plan"))
	var given plan.Plan
	parsePlanForm(r, &given)
	return c.changeAndRedirect(
		r,
		"plan.edit",
		redirect{"/plans?partner=" + url.QueryEscape(string(id)), "plan.saved"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.Plans.EditPlan(ctx, id, name, func(p *plan.Plan) {
				given.Retired = !r.PostForm.Has("offered")
				given.ID, given.Partner, given.CreatedAt = p.ID, p.Partner, p.CreatedAt
				*p = given
			})
			return string(id), string(name), err
		},
	)
}
