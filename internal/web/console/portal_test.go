package console_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/web/console"
)

// tenant is a partner with one of everything that a page can name, and its people.
type tenant struct {
	partner.Partner
	user string
	// named are what stands in the place of each word in braces.
	named  map[string]string
	people map[operator.Role]*http.Cookie
	// files are exports that each of them asked for.
	files map[operator.Role]string
	// marks are texts that no page of others may hold.
	marks []string
}

// anywhere allows every address: nothing is sent.
type anywhere struct{}

func (anywhere) CheckTargetURL(context.Context, string) error { return nil }

// enter makes a partner's person with a second factor and returns the cookie of a session.
func enter(
	t *testing.T,
	d *adminSession,
	id partner.ID,
	email string,
	role operator.Role,
) (operator.Operator, *http.Cookie) {
	t.Helper()
	ctx := context.Background()
	o, token, err := d.app.Operators.InvitePartnerOperator(
		ctx,
		id,
		email,
		role,
	) // the token serves for the session too: no password is hashed
	if err != nil {
		t.Fatal(err)
	}
	people, now := d.app.Store.Operators, time.Now()
	_, err = people.UpdateOperator(
		ctx,
		o.ID,
		operator.KeepSessions,
		func(o *operator.Operator, _ []operator.Operator) error {
			o.Invite, o.InviteUntil, o.TOTP, o.TOTPOn = nil, time.Time{}, []byte("a secret of the test"), true
			return nil
		},
	)
	if err == nil {
		err = people.InsertSession(
			ctx,
			operator.Session{
				Digest:    people.TokenDigest(token),
				Operator:  o.ID,
				CreatedAt: now,
				SeenAt:    now,
				ProvedAt:  now,
				From:      "127.0.0.1",
			},
		)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o, &http.Cookie{Name: "__Host-vigia", Value: token}
}

// as is the same console for somebody else.
func (d *adminSession) as(cookie *http.Cookie) *adminSession {
	other := *d
	other.cookie = cookie
	return &other
}

// tenant makes one; the person is the same for all of them.
func (d *adminSession) tenant(name string, roles ...operator.Role) tenant {
	t := d.t
	t.Helper()
	ctx := context.Background()
	p, user := d.customer()
	p, err := d.app.Partners.UpdatePartner(ctx, p.ID, func(p *partner.Partner) { p.Name = "Banco " + name })
	if err != nil {
		t.Fatal(err)
	}
	w := tenant{
		Partner: p,
		user:    user,
		people:  map[operator.Role]*http.Cookie{},
		files:   map[operator.Role]string{},
		named:   map[string]string{"partner": string(p.ID), "seq": "1", "passkey": "eA"},
	}
	key, _, err := d.app.Partners.CreateKey(
		ctx,
		p.ID,
		"chave "+name,
		[]partner.Scope{partner.ScopeCyberRead},
		time.Time{},
	)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := d.app.Webhooks.CreateEndpoint(
		ctx,
		p.ID,
		"https://"+strings.ToLower(name)+".example/avisos",
		nil,
		anywhere{},
	)
	if err != nil {
		t.Fatal(err)
	}
	service, err := d.app.Services.ListServices(ctx)
	if err == nil && len(service) == 0 {
		_, err = d.app.Services.AddService(ctx, "Orientação", "Ajuda depois de um golpe.")
	}
	if err == nil {
		service, err = d.app.Services.ListServices(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	opened, err := d.app.Cases.OpenCaseByPhone(
		ctx,
		p.ID,
		cyber.CaseRequest{Service: service[0].ID, User: partner.UserHash(user)},
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.app.Cases.MoveCase(ctx, opened.ID, opened.Status.Moves()[0], "ana@exemplo.com.br", ""); err != nil {
		t.Fatal(err)
	}
	events, err := d.app.History.ListEvents(ctx, p.ID, 0, 10)
	if err != nil || len(events) == 0 {
		t.Fatal("no event to look at:", err)
	}
	for _, role := range roles {
		o, cookie := enter(t, d, p.ID, role.Name()+"@"+strings.ToLower(name)+".example", role)
		w.people[role], w.files[role] = cookie, "ex_"+strings.ToLower(name)+role.Name()
		w.named["operator"], w.named["file"] = string(o.ID), w.files[role]
		w.marks = append(w.marks, o.Email, string(o.ID), w.files[role])
		e := operator.Export{
			ID:        w.files[role],
			Operator:  o.ID,
			List:      "findings",
			Format:    operator.CSV,
			CreatedAt: time.Now(),
			Until:     time.Now().Add(time.Hour),
		}
		if err := d.app.Store.Operators.BeginExport(ctx, e); err != nil {
			t.Fatal(err)
		}
		if err := d.app.Store.Operators.AddExportPart(ctx, e.ID, 1, 1, []byte("arquivo de "+name), true); err != nil {
			t.Fatal(err)
		}
	}
	device, err := d.app.Endpoints.IssueKey(
		ctx,
		p.ID,
		cyber.DeviceRequest{User: partner.UserHash(user), System: cyber.Android, Name: "Celular de " + name},
	)
	if err != nil {
		t.Fatal(err)
	}
	w.named["device"] = string(device.ID)
	w.marks = append(w.marks, string(device.ID), device.Key, "arquivo de "+name)
	w.named["ref"] = d.app.Subjects.Reference(subject.Person{User: partner.UserHash(user), Partner: p.ID})
	w.named["key"] = string(key.ID)
	w.named["endpoint"] = string(endpoint.ID)
	w.named["case"] = string(opened.ID)
	w.named["event"] = string(events[0].ID)
	w.marks = append(w.marks, p.Name, string(p.ID), key.Preview)
	w.marks = append(w.marks, w.named["key"], w.named["endpoint"], w.named["case"], w.named["event"])
	return w
}

// leak publishes a breach that holds the value which all of them watch, and names what was found.
func (d *adminSession) leak(tenants ...tenant) {
	d.t.Helper()
	d.breach("loja")
	for _, w := range tenants {
		d.found(w.ID, w.user)
		found, _, err := d.app.Store.Overview.FindingList(
			context.Background(),
			cyber.FindingFilter{Partner: w.ID, Limit: 1},
		)
		if err != nil || len(found) != 1 {
			d.t.Fatal(found, err)
		}
		w.named["finding"], w.named["asset"] = string(found[0].Finding.ID), string(found[0].Asset.ID)
	}
}

// bare are the words in braces that are no name by themselves: what an id is of stands before it.
var bare = map[string]string{
	"partners":  "partner",
	"operators": "operator",
	"cases":     "case",
	"devices":   "device",
	"exports":   "file",
}

var inBraces = regexp.MustCompile(`\{(\w+)\}`)

// path puts names into a route: of whose partner, and of whose other things.
func (w tenant) path(template string, whose tenant) string {
	if template == "/{$}" {
		return "/"
	}
	first := strings.Split(template, "/")[1]
	return inBraces.ReplaceAllStringFunc(template, func(word string) string {
		name := strings.Trim(word, "{}")
		if name == "id" {
			name = bare[first]
		}
		if name == "partner" {
			return w.named[name]
		}
		if text, ok := whose.named[name]; ok {
			return text
		}
		return "x1"
	})
}

// endsSession are routes that would end the session which the test goes on with.
var endsSession = []string{"/logout", "/account/logout", "/account/password"}

// TestPortalTenancy walks all routes of the console with the log-in of each role of a partner: what is not open to the
// role is refused, what is another partner's is not there, and no page holds a word of it.
func TestPortalTenancy(t *testing.T) {
	d := newAdmin(t)
	own, other := d.tenant("Aurora", operator.PartnerRoles()...), d.tenant("Boreal", operator.PartnerViewer)
	d.leak(own, other)
	other.marks = append(other.marks, other.named["finding"], other.named["asset"])
	for role, cookie := range own.people {
		me := d.as(cookie)
		own.named["file"] = own.files[role]
		for _, p := range everyPage() {
			if p.Role == "" || slices.Contains(endsSession, p.Path) {
				continue
			}
			try := func(path string) (int, string) {
				t.Helper()
				res, text := ask(t, me.base, p.Method, path, cookie, nil)
				if to := res.Header.Get("location"); strings.HasPrefix(to, "/login") {
					t.Fatalf("%s %s for %s: sent to log in", p.Method, path, role)
				}
				for _, mark := range other.marks {
					if strings.Contains(text, mark) && !strings.Contains(path, mark) {
						t.Errorf("%s %s for %s holds %q of another partner", p.Method, path, role, mark)
					}
				}
				return res.StatusCode, text
			}
			if !role.May(p.Portal) {
				for _, whose := range []tenant{own, other} {
					if status, _ := try(whose.path(p.Path, whose)); status != http.StatusForbidden {
						t.Errorf("%s %s is not for %s: %d", p.Method, p.Path, role, status)
					}
				}
				continue
			}
			if inBraces.MatchString(p.Path) && !strings.Contains(p.Path, "{passkey}") {
				for _, path := range []string{
					other.path(p.Path, other), own.path(p.Path, other), other.path(p.Path, own),
				} {
					if path == own.path(p.Path, own) { // it names nothing but the partner
						continue
					}
					if status, _ := try(path); status != http.StatusNotFound {
						t.Errorf("%s %s of another partner for %s: %d", p.Method, p.Path, role, status)
					}
				}
			}
			if status, _ := try(
				own.path(p.Path, own) + "?partner=" + url.QueryEscape(string(other.ID)),
			); status != http.StatusNotFound {
				t.Errorf("%s %s?partner= of another for %s: %d", p.Method, p.Path, role, status)
			}
			if p.Method == http.MethodGet {
				if status, text := try(own.path(p.Path, own)); status != http.StatusOK &&
					status != http.StatusSeeOther {
					t.Errorf("%s %s for %s: %d\n%s", p.Method, p.Path, role, status, text)
				} else {
					offersOnlyWhatIsOpen(t, role, p.Path, text)
				}
			}
		}
	}
}

// everyPage is the route table with each list by its name.
func everyPage() (all []console.Page) {
	for _, p := range console.ListPages() {
		if !strings.Contains(p.Path, "{list}") {
			all = append(all, p)
			continue
		}
		for _, list := range console.ListNames() {
			one := p
			one.Path = strings.Replace(p.Path, "{list}", list, 1)
			all = append(all, one)
		}
	}
	return all
}

var (
	formAction = regexp.MustCompile(`(?:action|formaction)="([^"?]+)`)
	linkTo     = regexp.MustCompile(`<a [^>]*href="(/[^"?#]*)`)
)

// offersOnlyWhatIsOpen holds the forms and links of a page against what the role may do.
func offersOnlyWhatIsOpen(t *testing.T, role operator.Role, page, text string) {
	t.Helper()
	for method, pattern := range map[string]*regexp.Regexp{http.MethodPost: formAction, http.MethodGet: linkTo} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if !leadsSomewhere(role, method, m[1]) &&
				(method == http.MethodGet || !leadsSomewhere(role, http.MethodGet, m[1])) {
				t.Errorf("%s for %s offers %s %s, which would be refused", page, role, method, m[1])
			}
		}
	}
}

func leadsSomewhere(role operator.Role, method, path string) bool {
	for _, p := range console.ListPages() {
		pattern := "^" + inBraces.ReplaceAllString(strings.ReplaceAll(p.Path, "{$}", ""), `[^/]+`) + "$"
		if p.Method == method && regexp.MustCompile(pattern).MatchString(path) && role.May(p.Portal) {
			return true
		}
	}
	return false
}

// TestPortalFirstThread: a developer whom the operator invited logs in, makes a key of no more than the partner has,
// invites a colleague, and is told nothing of others.
func TestPortalFirstThread(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	own, other := d.tenant("Aurora", operator.Developer), d.tenant("Boreal", operator.PartnerViewer)
	me := d.as(own.people[operator.Developer])
	readManage := []partner.Scope{partner.ScopeManageRead}
	if _, _, err := d.app.Partners.CreateKey(ctx, own.ID, "integração", readManage, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, page := me.send(
		"/",
		"",
		nil,
	); !strings.Contains(page, "Banco Aurora") ||
		!strings.Contains(page, "aurora.example") {
		t.Error("the first page:", page)
	}
	keys := "/partners/" + string(own.ID)
	if _, page := me.send(
		keys,
		"",
		nil,
	); !strings.Contains(page, "chave Aurora") ||
		strings.Contains(page, "Configurações") {
		t.Error("the page of keys:", page)
	}
	if _, page := d.send(
		keys+"/keys/new",
		"",
		nil,
	); strings.Contains(page, `value="credentials" checked`) || strings.Contains(page, `value="manage:read" selected`) || strings.Contains(page, `value="cyber" selected`) ||
		!strings.Contains(page, `value="cyber:read" selected`) {
		t.Error("the form offers more than the 14 operations by itself")
	}
	if _, page := me.post(200, keys+"/keys/new", "label", "nova", "scope", "manage:read"); !strings.Contains(page, "vg_live_") {
		t.Error("no key is shown:", page)
	}
	list, err := d.app.Partners.ListKeys(ctx, own.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list { // the operator leaves nothing but reading
		if k.HasScope(partner.ScopeCyber) {
			if _, err := d.app.Partners.RevokeKey(ctx, own.ID, k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, page := me.post(
		422, keys+"/keys/new", "label", "nenhuma", "scope", "", "scope", "",
	); !strings.Contains(page, "Escolha ao menos uma.") || strings.Count(page, `aria-invalid="true"`) != 1 {
		t.Error("a key that may do nothing:", page)
	}
	me.post(422, keys+"/keys/new", "label", "demais", "scope", "manage")
	me.post(422, keys+"/keys/new", "label", "demais", "scope", "credentials")
	me.post(200, keys+"/keys/new", "label", "bastante", "scope", "manage:read")

	me.post(422, keys+"/invite", "email", "eva@aurora.example", "role", "admin")
	me.post(
		422,
		keys+"/invite",
		"email",
		"eva@aurora.example",
		"role",
		"attendant",
	) // a right that a developer does not hold
	me.post(200, keys+"/invite", "email", "eva@aurora.example", "role", "developer")
	eva, err := d.app.Operators.FindByEmail(ctx, "eva@aurora.example")
	if err != nil || eva.Partner != own.ID || eva.Role != operator.Developer {
		t.Error(eva, err)
	}
	d.recorded("operator.invite", string(eva.ID), string(own.ID))
	me.post(303, "/operators/"+string(eva.ID)+"/role", "role", "viewer")
	me.post(422, "/operators/"+string(eva.ID)+"/role", "role", "support")
	me.post(422, "/operators/"+string(eva.ID)+"/role", "role", "attendant")
	me.post(404, "/operators/"+other.named["operator"]+"/disable")
	me.post(303, "/operators/"+string(eva.ID)+"/disable")
	all, err := d.app.Operators.ListOperators(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.Disabled != (o.ID == eva.ID) {
			t.Error("disabled:", o.Email, o.Disabled)
		}
	}
	d.post(303, "/partners/"+string(own.ID)+"/suspend")
	if res, page := me.send(
		"/",
		"",
		nil,
	); res.StatusCode != http.StatusForbidden ||
		!strings.Contains(page, "suspenso") {
		t.Error("a suspended partner's person:", res.StatusCode, page)
	}
}

// TestPortalSandbox: who belongs to a live partner switches to its sandbox and back, and to nobody else's.
func TestPortalSandbox(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	own, other := d.tenant("Aurora", operator.PartnerViewer), d.tenant("Boreal")
	trial := func(name string, of partner.ID) partner.Partner {
		p, _, err := d.app.Partners.CreatePartner(ctx, name, partner.Sandbox, partner.Settings{SandboxOf: of})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	mine, theirs := trial("Aurora em testes", own.ID), trial("Boreal em testes", other.ID)
	if _, _, err := d.app.Partners.CreatePartner(
		ctx,
		"Segundo",
		partner.Sandbox,
		partner.Settings{SandboxOf: own.ID},
	); err == nil {
		t.Error("a partner has two sandboxes")
	}
	if _, err := d.app.Partners.UpdatePartner(
		ctx,
		other.ID,
		func(p *partner.Partner) { p.Settings.SandboxOf = own.ID },
	); err == nil {
		t.Error("a live partner is another's sandbox")
	}
	me := own.people[operator.PartnerViewer]
	look := func(path, sandbox string) (int, string) {
		res, text := ask(
			t,
			d.base,
			http.MethodGet,
			path,
			me,
			http.Header{"Cookie": {"__Host-vigia-sandbox=" + sandbox}},
		)
		return res.StatusCode, text
	}
	res, _ := ask(t, d.base, http.MethodPost, "/sandbox", me, nil)
	if set := res.Header.Get("set-cookie"); !strings.HasPrefix(set, "__Host-vigia-sandbox="+string(mine.ID)) {
		t.Error("no switch:", set)
	}
	if _, page := look(
		"/",
		string(mine.ID),
	); !strings.Contains(page, "Aurora em testes") ||
		!strings.Contains(page, "Voltar à produção") {
		t.Error("not in the sandbox:", page)
	}
	if _, page := look(
		"/",
		string(theirs.ID),
	); !strings.Contains(page, "Banco Aurora") ||
		strings.Contains(page, "Boreal") {
		t.Error("somebody else's sandbox:", page)
	}
	for path, want := range map[string]int{
		"/partners/" + string(mine.ID): http.StatusOK, "/partners/" + string(own.ID): http.StatusNotFound,
		"/partners/" + string(theirs.ID): http.StatusNotFound,
	} {
		if status, _ := look(path, string(mine.ID)); status != want {
			t.Errorf("%s in the sandbox: %d", path, status)
		}
	}
	if status, _ := look("/partners/"+string(mine.ID), ""); status != http.StatusNotFound {
		t.Error("the sandbox without a switch:", status)
	}
}

// TestPortalHidesTheService: what operators wrote, and who of them it was, is not on a partner's pages.
func TestPortalHidesTheService(t *testing.T) {
	d := newAdmin(t)
	own := d.tenant("Aurora", operator.Attendant)
	at := "/cases/" + own.named["case"]
	d.post(303, at+"/write", "kind", "note", "text", "suspeita de fraude interna")
	d.post(303, at+"/assign", "me", "1")
	id := cyber.CaseID(own.named["case"])
	opened, _, err := d.app.Cases.GetCase(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.app.Cases.MoveCase(
		t.Context(),
		id,
		opened.Status.Moves()[0],
		"ana@exemplo.com.br",
		"conta sob suspeita",
	); err != nil {
		t.Fatal(err)
	}
	d.post(303, "/people/"+own.named["partner"]+"/"+own.named["ref"]+"/reveal", "reason", "denúncia 12")
	me := d.as(own.people[operator.Attendant])
	me.post(303, at+"/write", "kind", "note", "text", "ligar depois das 18h")
	_, one := me.send(at, "", nil)
	_, person := me.send("/people/"+own.named["partner"]+"/"+own.named["ref"], "", nil)
	_, desk := me.send("/cases", "", nil)
	for _, page := range []string{one, person, desk} {
		for _, secret := range []string{"ana@exemplo.com.br", "fraude interna", "conta sob suspeita", "denúncia 12"} {
			if strings.Contains(page, secret) {
				t.Errorf("%q stands on a partner's page", secret)
			}
		}
		if !strings.Contains(page, "Operação do serviço") {
			t.Error("nobody is named in the operator's place")
		}
	}
	if !strings.Contains(one, "ligar depois das 18h") {
		t.Error("the partner's own note is hidden")
	}
	if strings.Contains(person, "Maria da Silva") {
		t.Error("a name without a reason")
	}
	me.post(303, "/people/"+own.named["partner"]+"/"+own.named["ref"]+"/reveal", "reason", "cliente ao telefone")
	_, shown := me.send("/people/"+own.named["partner"]+"/"+own.named["ref"], "", nil)
	if !strings.Contains(shown, "Maria da Silva") {
		t.Error("an attendant sees no name with a reason")
	}
	d.recorded("person.reveal", own.named["ref"], "cliente ao telefone")
	res, text := me.post(303, "/search", "q", "529.982.247-25")
	if to := res.Header.Get("location"); !strings.HasPrefix(to, "/people/"+own.named["partner"]) {
		t.Error("the search leads elsewhere:", to, text)
	}
}

// TestPortalShowsWhichKeyMadeWhich: the page of keys names the maker of a key, and revoking ends what it made.
func TestPortalShowsWhichKeyMadeWhich(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	own := d.tenant("Aurora", operator.Developer)
	me := d.as(own.people[operator.Developer])
	maker, text, err := d.app.Partners.CreateKey(ctx, own.ID, "mãe", []partner.Scope{partner.ScopeManage}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	who, err := partner.NewKeyGate(d.app.Store.Partners, time.Now).Authenticate(ctx, text, partner.ScopeManage)
	if err != nil {
		t.Fatal(err)
	}
	child, _, err := d.app.Partners.CreateKeyBy(ctx, who, "filha", []string{"manage"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	keys := "/partners/" + string(own.ID)
	for _, seen := range []*adminSession{me, d} {
		if _, page := seen.send(
			keys,
			"",
			nil,
		); !strings.Contains(page, "pela chave <code>"+maker.Preview+"…</code>") ||
			!strings.Contains(page, "Com ela termina 1 chave criada por ela.") {
			t.Error("the page of keys:", page)
		}
	}
	me.post(303, keys+"/keys/"+string(maker.ID)+"/revoke")
	list, err := d.app.Partners.ListKeys(ctx, own.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		if (k.ID == maker.ID || k.ID == child.ID) == k.IsLiveAt(time.Now()) {
			t.Errorf("%s is live: %v", k.Label, k.IsLiveAt(time.Now()))
		}
	}
}

// TestPortalDeveloperGivesNoPeople: of a live partner, a developer creates no key that shows people, is told who does,
// rolls and revokes those that there are, and becomes or takes over no administrator. An administrator of the partner
// creates such keys. The trail has the scopes of each key.
func TestPortalDeveloperGivesNoPeople(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	own := d.tenant("Aurora", operator.PartnerRoles()...)
	keys := "/partners/" + string(own.ID)
	create := func(label string, scopes ...partner.Scope) partner.Key {
		t.Helper()
		key, _, err := d.app.Partners.CreateKey(ctx, own.ID, label, scopes, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	whole := create("tudo", partner.ScopeCyber, partner.ScopeSubscriptions, partner.ScopeManage, partner.ScopePrivacy,
		partner.ScopeCredentials)
	old := create("velha", partner.ScopeCyberRead)
	admin, err := d.app.Operators.FindByEmail(ctx, "admin@aurora.example")
	if err != nil {
		t.Fatal(err)
	}
	mate, _ := enter(t, d, own.ID, "eva@aurora.example", operator.PartnerViewer)
	type try struct {
		path   string
		status int // for an administrator
		fields []string
	}
	tries := []try{
		{keys + "/invite", 200, []string{"email", "bob@aurora.example", "role", "admin"}},
		{"/operators/" + string(mate.ID) + "/role", 303, []string{"role", "admin"}},
	}
	people := []partner.Scope{
		partner.ScopeCyber, partner.ScopeCyberRead, partner.ScopeSubscriptions, partner.ScopeSubscriptionsRead,
		partner.ScopePrivacy, partner.ScopeCredentials,
	}
	me := d.as(own.people[operator.Developer])
	_, form := me.send(keys+"/keys/new", "", nil)
	if !strings.Contains(form, admin.Email) {
		t.Error("the form does not say who gives other scopes:", form)
	}
	for _, scope := range people {
		tries = append(tries, try{keys + "/keys/new", 200, []string{"label", "pessoas", "scope", string(scope)}})
		if strings.Contains(form, `value="`+string(scope)+`"`) || !strings.Contains(form, "<code>"+string(scope)+"</code>") {
			t.Errorf("the form of a developer on %s: %s", scope, form)
		}
	}
	for _, try := range tries {
		if _, page := me.post(422, try.path, try.fields...); strings.Contains(page, "Guardei") {
			t.Errorf("%s gave a developer a key", try.path)
		}
	}
	for _, action := range []string{"/role", "/reset", "/disable", "/logout"} { // of an administrator
		me.post(422, "/operators/"+string(admin.ID)+action, "role", "viewer")
	}
	me.post(200, keys+"/keys/"+string(whole.ID)+"/roll", "hours", "1")
	me.post(303, keys+"/keys/"+string(old.ID)+"/revoke")
	me.post(200, keys+"/keys/new", "label", "sem pessoas", "scope", "manage")
	boss := d.as(own.people[operator.PartnerAdmin])
	for _, try := range tries {
		boss.post(try.status, try.path, try.fields...)
	}
	list, err := d.app.Partners.ListKeys(ctx, own.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		if k.Label == "pessoas" || k.Label == "sem pessoas" {
			d.recorded("key.create", string(k.ID), string(own.ID)+" "+string(k.Scopes[0]))
		}
		if k.Line == whole.ID && k.ID != whole.ID {
			d.recorded("key.roll", string(whole.ID), string(k.ID)+" "+k.AuditDetail())
		}
	}
}

// TestPortalDeveloperOfASandbox: nobody in a sandbox is real, so a developer creates any key that the partner has.
func TestPortalDeveloperOfASandbox(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	p, _, err := d.app.Partners.CreatePartner(ctx, "Teste", partner.Sandbox, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, cookie := enter(t, d, p.ID, "dev@teste.example", operator.Developer)
	me := d.as(cookie)
	keys := "/partners/" + string(p.ID) + "/keys/new"
	me.post(200, keys, "label", "tudo", "scope", "subscriptions")
	if _, form := me.send(keys, "", nil); !strings.Contains(form, "só o operador do serviço as dá: <code>credentials</code>") {
		t.Error("the form does not say who gives what no key has:", form)
	}
}

// exported writes a list into a file and returns it.
func (d *adminSession) exported(list, query string) string {
	d.t.Helper()
	_, before := d.send("/exports", "", nil)
	d.post(303, "/lists/"+list+"/export", "query", query, "format", "csv")
	var id string
	polltest.Until(d.t, "a file of "+list, func() bool {
		_, page := d.send("/exports", "", nil)
		_, rest, done := strings.Cut(page, `<a href="/exports/`)
		id, _, _ = strings.Cut(rest, `"`)
		return done && !strings.Contains(before, id)
	})
	_, file := d.send("/exports/"+id, "", nil)
	return file
}

// TestPortalLists: a partner's people use the lists, their exports and kept filters as operators do, and whatever a
// form says, on nothing but their own.
func TestPortalLists(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	own, other := d.tenant("Aurora", operator.PartnerRoles()...), d.tenant("Boreal", operator.PartnerViewer)
	d.leak(own, other)
	d.post(303, "/cases/"+own.named["case"]+"/assign", "me", "1")
	viewer := d.as(own.people[operator.PartnerViewer])
	for _, list := range []string{
		"findings", "monitoring", "events", "deliveries", "subscriptions", "devices", "cases",
	} {
		viewer.post(404, "/lists/"+list+"/export", "query", "partner="+string(other.ID))
		viewer.post(404, "/lists/"+list+"/filters", "query", "partner="+string(other.ID), "name", "Deles")
		_, page := viewer.send("/"+list, "", nil)
		has(
			t,
			page,
			"Exportar",
			"Guardar filtro",
			`-<select name="partner">`,
			`-name="row"`,
			"-"+string(other.ID),
			"-Banco Boreal",
		)
	}
	findings := viewer.exported("findings", "")
	has(t, findings, "Banco Aurora", own.named["finding"], "-"+other.named["finding"], "-maria@exemplo.com.br")
	has(t, viewer.exported("devices", ""), own.named["device"], "-"+other.named["device"])
	cases := viewer.exported("cases", "owner=ana@exemplo.com.br")
	has(t, cases, own.named["case"], "Operação do serviço", "-ana@exemplo.com.br", "-"+other.named["case"])
	viewer.post(403, "/lists/audit/export", "query", "")
	viewer.post(403, "/lists/breaches/export", "query", "")
	viewer.post(303, "/lists/findings/filters", "query", "state=all", "name", "Todas as nossas")
	_, page := viewer.send("/findings", "", nil)
	has(t, page, "Todas as nossas")
	_, page = d.send("/findings", "", nil)
	has(t, page, "-Todas as nossas")

	// What is done to many lines is a right of its own.
	query := "partner=" + string(own.ID)
	rows := func(w tenant) []string {
		return []string{"query", query, "row", string(w.ID) + "/" + w.named["finding"], "option", "not_me"}
	}
	viewer.post(403, "/lists/findings/bulk", rows(own)...)
	d.as(own.people[operator.Developer]).post(403, "/lists/findings/bulk/run", rows(own)...)
	attendant := d.as(own.people[operator.Attendant])
	attendant.post(404, "/lists/findings/bulk/run", rows(other)...)
	attendant.post(403, "/lists/subscriptions/bulk/run", "query", query, "all", "1")
	attendant.post(200, "/lists/findings/bulk", rows(own)...)
	res, _ := attendant.post(303, "/lists/findings/bulk/run", "query", "", "all", "1", "option", "not_me")
	if to := res.Header.Get("location"); !strings.HasPrefix(to, "/findings?") {
		t.Error("sent to", to)
	}
	if j := d.job(console.KindBulk, "findings "+string(own.ID)); j.State != job.Done {
		t.Error(j.State, j.Error)
	}
	for id, want := range map[partner.ID]int{own.ID: 0, other.ID: 1} {
		left, _, err := d.app.Store.Overview.FindingList(
			context.Background(),
			cyber.FindingFilter{Partner: id, State: cyber.FindingOpen, Limit: 10},
		)
		if err != nil || len(left) != want {
			t.Errorf("%s has %d open: %v", id, len(left), err)
		}
	}
}

// TestPortalWork: what each role of a partner does to the partner's own deliveries, values, devices and cases.
func TestPortalWork(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	own := d.tenant("Aurora", operator.PartnerRoles()...)
	d.leak(own)
	developer, attendant := d.as(own.people[operator.Developer]), d.as(own.people[operator.Attendant])
	mine := []string{"partner", string(own.ID)}
	if res, _ := attendant.post(403, "/deliveries/replay", mine...); res.StatusCode != http.StatusForbidden {
		t.Error("an attendant replays")
	}
	waiting, _, err := d.app.Store.Overview.DeliveryList(
		ctx,
		alert.DeliveryFilter{State: alert.Pending, Partner: own.ID, Limit: 50},
	)
	if err != nil || len(waiting) == 0 {
		t.Fatal("nothing is on its way:", err)
	}
	event := string(waiting[0].Event)
	_, page := developer.send("/deliveries?state=pending", "", nil)
	has(t, page, event, "Reenviar…", "-Parceiro</th>")
	developer.post(303, "/deliveries/replay", mine...)
	d.recorded("event.replay", string(own.ID), "all failed")
	developer.post(
		303,
		"/lists/deliveries/bulk/run",
		"query",
		"state=pending",
		"row",
		string(own.ID)+"/"+event+"/"+own.named["endpoint"],
	)
	d.recorded("event.replay", event+"/"+own.named["endpoint"], "bulk")
	whole := string(own.ID) + "/" + event + "/" + own.named["endpoint"]
	cut := string(own.ID) + "/" + event
	_, page = developer.post(503, "/lists/deliveries/bulk/run", "query", "state=pending", "row", whole, "row", cut)
	has(t, page, "1 de 2 linhas")

	_, page = attendant.send("/monitoring?status=alerta", "", nil)
	has(t, page, "m***", "-maria@exemplo.com.br", "-Monitorar um domínio")
	attendant.post(
		303,
		"/monitoring/"+string(own.ID)+"/"+own.named["asset"]+"/reveal?status=alerta",
		"reason",
		"cliente ao telefone",
	)
	_, page = attendant.send("/monitoring?status=alerta", "", nil)
	has(t, page, "maria@exemplo.com.br")
	attendant.post(303, "/monitoring/find", "user_hash", own.user)

	device := "/devices/" + own.named["device"]
	_, page = developer.send(device, "", nil)
	has(t, page, "oculto", "-Revogar", "-Celular de")
	_, page = attendant.send(device, "", nil) // the same person: one reason is enough
	has(t, page, "Celular de Aurora", "Revogar agora")
	_, page = attendant.send("/devices", "", nil)
	has(t, page, `href="`+device+`"`, "-Origem das chaves")
	attendant.post(303, device+"/revoke")
	if one, err := d.app.Endpoints.DeviceByID(
		ctx,
		cyber.KeyID(own.named["device"]),
	); err != nil ||
		one.EndReason != cyber.EndRevoked {
		t.Error(one.EndReason, err)
	}

	at := "/cases/" + own.named["case"]
	developer.post(403, at+"/write", "text", "não devia")
	attendant.post(303, at+"/write", "text", "Já falamos com o banco.")
	_, page = attendant.send(at, "", nil)
	has(t, page, "Já falamos com o banco.", "<b>Você</b>")
	if _, moves, err := d.app.Cases.GetCase(
		ctx,
		cyber.CaseID(own.named["case"]),
	); err != nil ||
		!slices.ContainsFunc(moves, func(m cyber.CaseMove) bool { return m.Kind == cyber.MoveReply }) {
		t.Error(moves, err)
	}
}
