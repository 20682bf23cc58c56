package console_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// adminSession is an admin at the console, without a browser.
type adminSession struct {
	t      *testing.T
	app    *app.App
	base   string
	api    string
	cookie *http.Cookie
}

func newAdmin(t *testing.T) *adminSession {
	t.Helper()
	a := open(t)
	srv := serve(t, a, nil)
	return &adminSession{
		t,
		a,
		"http://" + srv.ConsoleAddr.String(),
		"http://" + srv.APIAddr.String() + "/v1",
		session(t, a, "ana@exemplo.com.br", operator.Admin),
	}
}

func (d *adminSession) send(path, kind string, body io.Reader) (*http.Response, string) {
	d.t.Helper()
	method := http.MethodPost
	if body == nil {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(context.Background(), method, d.base+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("content-type", kind)
	}
	req.AddCookie(d.cookie)
	res, err := noFollow.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	if res.Header.Get("location") == "/secret" { // the page that shows what was just made
		d.takeSession(res)
		shown, page := openSecrets(d.t, d.base, d.cookie, res.Cookies())
		d.takeSession(shown)
		return shown, page
	}
	_, page, found := strings.Cut(string(text), "<main") // what comes before is the same on every page
	if !found {
		page = string(text)
	}
	return res, page
}

// takeSession goes on with the session that an answer gave.
func (d *adminSession) takeSession(res *http.Response) {
	for _, c := range res.Cookies() {
		if c.Name == "__Host-vigia" {
			d.cookie = c
		}
	}
}

// openSecrets opens the page of secrets that a form led to.
func openSecrets(t *testing.T, base string, session *http.Cookie, cookies []*http.Cookie) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, base+"/secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(session)
	for _, c := range cookies {
		if c.Name == "__Host-vigia-secret" {
			req.AddCookie(c)
		}
	}
	res, err := noFollow.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "<main")
	return res, page
}

// TestSecretsAreOfTheirSession: a page of secrets can be read again for a while, and by no other session.
func TestSecretsAreOfTheirSession(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	req, err := http.NewRequestWithContext(
		context.Background(),
		http.MethodPost,
		d.base+"/partners/new",
		strings.NewReader("name=Banco&mode=sandbox"),
	)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("content-type", "application/x-www-form-urlencoded")
	req.AddCookie(d.cookie)
	res, err := noFollow.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	for range 2 {
		if res, page := openSecrets(
			t,
			d.base,
			d.cookie,
			res.Cookies(),
		); res.StatusCode != 200 ||
			!strings.Contains(page, "Parceiro criado") {
			t.Error(res.StatusCode, page)
		}
	}
	other := session(t, d.app, "bia@exemplo.com.br", operator.Admin)
	if res, page := openSecrets(t, d.base, other, res.Cookies()); res.StatusCode != http.StatusSeeOther {
		t.Error("another session reads the secrets:", res.StatusCode, page)
	}
}

// post sends a form and expects a status.
func (d *adminSession) post(want int, path string, fields ...string) (*http.Response, string) {
	d.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	res, text := d.send(path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
	if res.StatusCode != want {
		d.t.Fatalf("%s: %d, not %d\n%s", path, res.StatusCode, want, text)
	}
	return res, text
}

// upload sends a form whose last part is a file.
func (d *adminSession) upload(want int, path, name, content string, fields ...string) string {
	d.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1]) // a buffer takes everything
	}
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		d.t.Fatal(err)
	}
	_, _ = io.WriteString(part, content)
	_ = w.Close()
	res, text := d.send(path, w.FormDataContentType(), &b)
	if res.StatusCode != want {
		d.t.Fatalf("%s: %d, not %d\n%s", path, res.StatusCode, want, text)
	}
	return text
}

// job waits until the newest job of a kind is over.
func (d *adminSession) job(kind, subject string) job.Job {
	d.t.Helper()
	var newest job.Job
	polltest.Until(d.t, kind+" of "+subject+" has ended", func() bool {
		var err error
		newest, err = d.app.Store.Jobs.NewestJobOf(context.Background(), kind, subject)
		return err == nil && newest.State != job.Ready && newest.State != job.Running
	})
	return newest
}

// noUploads waits until no file that was sent is left: each is removed when its job has ended, which the job cannot
// tell.
func (d *adminSession) noUploads() {
	d.t.Helper()
	polltest.Until(d.t, "no upload is left", func() bool {
		left, err := os.ReadDir(filepath.Join(d.app.Config.CorporaPath(), "upload"))
		if err != nil {
			d.t.Fatal(err)
		}
		return len(left) == 0
	})
}

// recorded expects a line of the audit trail.
func (d *adminSession) recorded(action, subject, detail string) {
	d.t.Helper()
	lines, err := d.app.Audit.ListEntries(context.Background(), operator.Filter{Action: action, Limit: 100})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, l := range lines {
		if (subject == "" || l.Subject == subject) && strings.Contains(l.Detail, detail) &&
			strings.HasPrefix(l.Name, "op_") {
			return
		}
	}
	d.t.Errorf("no line %s about %q with %q: %v", action, subject, detail, lines)
}

const maria = `[{"start_date":"2026-01-01","expiry_date":null,"plan_id":"ouro","is_group_plan":false,"partner_internal_id":null,"partner_metadata":null,
	"beneficiary":{"primary_card":"4111111111111111","user_card":"4111111111111111","name":"Maria da Silva","cpf":"52998224725","birth_date":"1990-05-17","gender":"F",
	"email":"maria@exemplo.com.br","phone_number":"+5511987654321","address":{"zipcode":"01001000","street":"Rua","number":"1","complement":null,"neighborhood":"Centro","city":"São Paulo","state":"SP"}}}]`

// customer makes a partner with a plan and one person, and returns the person's hash.
func (d *adminSession) customer() (p partner.Partner, user string) {
	d.t.Helper()
	ctx := context.Background()
	p, cred, err := d.app.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.app.Plans.CreatePlan(ctx, plan.Plan{ID: "ouro", Partner: p.ID, Name: "Ouro"}); err != nil {
		d.t.Fatal(err)
	}
	_, digest := partner.PersonDigests("52998224725", cred.Salt)
	user = hex.EncodeToString(digest[1:])
	for path, body := range map[string]string{
		"/subscriptions":    maria,
		"/cyber/monitoring": `{"userHash":"` + user + `","type":"email","value":"maria@exemplo.com.br"}`,
	} {
		if status, answer := call(
			d.t,
			"POST",
			d.api+path,
			cred.APIKey,
			body,
		); status != 200 ||
			strings.Contains(answer, `"failure"`) {
			d.t.Fatalf("%s: %d %s", path, status, answer)
		}
	}
	return p, user
}

// breach imports a dump that holds a watched value.
func (d *adminSession) breach(name string) {
	d.t.Helper()
	d.breachOf(name, "maria@exemplo.com.br")
}

// breachOf imports a breach with one person, Maria or another.
func (d *adminSession) breachOf(name, email string) {
	d.t.Helper()
	dump := filepath.Join(d.t.TempDir(), "dump.txt")
	if err := os.WriteFile(dump, []byte(email+":123456\n"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	inputs, err := intake.ListInputs(context.Background(), nil, []string{dump})
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = d.app.Leaks.Foreground.ImportBreach(context.Background(), intake.Spec{Inputs: inputs, Breach: cyber.Breach{
		Name:    name,
		Title:   "Loja",
		Kind:    cyber.SourceBreach,
		Exposes: []cyber.Exposed{cyber.ExposedEmail},
		Date:    time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}})
	if err != nil {
		d.t.Fatal(err)
	}
}

// found waits for the finding of a person.
func (d *adminSession) found(id partner.ID, user string) {
	d.t.Helper()
	polltest.Until(d.t, "a finding of the person", func() bool {
		list, err := d.app.Monitoring.ListFindings(context.Background(), id, partner.UserHash(user))
		return err == nil && len(list) > 0
	})
}

// TestConsoleSubjects: a person's rights in the browser: what is held, a copy, who looked, the incident, the erasure.
func TestConsoleSubjects(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	p, user := d.customer()
	d.breach("loja")
	d.found(p.ID, user)
	const cpf, why = "529.982.247-25", "pedido 77"

	_, page := d.post(200, "/subjects/find", "cpf", cpf, "reason", why)
	for _, want := range []string{"Banco Exemplo", "1 assinatura", "1 dado monitorado", "1 ocorrência"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "Maria") || strings.Contains(page, "maria@") {
		t.Error("the page shows a value")
	}
	d.post(422, "/subjects/export", "cpf", cpf) // no reason
	d.post(404, "/subjects/export", "cpf", "111.444.777-35", "reason", why)
	res, text := d.post(200, "/subjects/export", "cpf", cpf, "reason", why)
	if !strings.Contains(text, "Maria da Silva") ||
		!strings.HasPrefix(res.Header.Get("content-disposition"), "attachment;") ||
		res.Header.Get("cache-control") != "no-store" ||
		strings.Contains(res.Header.Get("content-disposition"), "52998224725") {
		t.Error("the copy:", res.Header, text)
	}
	if res, text = d.post(
		200,
		"/subjects/export",
		"cpf",
		cpf,
		"reason",
		why,
		"format",
		"letter",
	); !strings.Contains(text, "Olá, Maria da Silva.") ||
		!strings.HasPrefix(res.Header.Get("content-type"), "text/html") ||
		!strings.HasPrefix(res.Header.Get("content-disposition"), "attachment;") {
		t.Error("the letter:", res.Header, text)
	}
	_, text = d.post(
		200,
		"/subjects/export",
		"user_hash",
		user,
		"partner",
		string(p.ID),
		"reason",
		why,
		"format",
		"json",
	)
	var held []map[string]any
	if err := json.Unmarshal([]byte(text), &held); err != nil || len(held) != 1 {
		t.Error(err, text)
	}
	d.recorded("subject.export", "", why)
	_, page = d.post(200, "/subjects/access", "cpf", cpf, "reason", why)
	if !strings.Contains(page, "baixou a cópia dos dados") || !strings.Contains(page, "ana@exemplo.com.br") {
		t.Error("the access report lacks the export:", page)
	}

	_, page = d.post(200, "/incidents", "breach", "loja")
	if !strings.Contains(page, "1 e-mail") || strings.Contains(page, "maria@") {
		t.Error("the incident:", page)
	}
	d.post(422, "/incidents/download", "breach", "loja", "reveal", "on") // no reason
	if _, table := d.post(
		200,
		"/incidents/download",
		"breach",
		"loja",
	); !strings.Contains(table, user) ||
		strings.Contains(table, "maria@") {
		t.Error(table)
	}
	_, shown := d.post(200, "/incidents/download", "breach", "loja", "reveal", "on", "reason", why)
	if !strings.Contains(shown, "maria@exemplo.com.br") {
		t.Error(shown)
	}
	d.recorded("subject.reveal", "", why)

	d.post(422, "/subjects/erase", "cpf", cpf, "reason", why, "confirm", "apagar")
	if list, err := d.app.Store.Overview.SubscriptionsOfCPF(ctx, p.ID, "52998224725"); err != nil || len(list) != 1 {
		t.Fatal("erased without the word:", list, err)
	}
	_, page = d.post(200, "/subjects/erase", "cpf", cpf, "reason", why, "confirm", "APAGAR")
	if !strings.Contains(page, "assinaturas") {
		t.Error(page)
	}
	if list, err := d.app.Store.Overview.SubscriptionsOfCPF(ctx, p.ID, "52998224725"); err != nil || len(list) != 0 {
		t.Error("still there:", list, err)
	}
	d.recorded("subject.erase", "", why)
	d.recorded("subject.erased", "", "")
	if _, log := d.send(
		"/subjects/erasures",
		"",
		nil,
	); !strings.Contains(log, `"mac"`) ||
		strings.Contains(log, "52998224725") {
		t.Error(log)
	}
	if raw, err := os.ReadFile(app.ErasureLog(d.app.Config)); err != nil || len(raw) == 0 {
		t.Error("no tombstone outside the database:", err)
	}
	lines, err := d.app.Audit.ListEntries(ctx, operator.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if trail := fmt.Sprint(lines); strings.Contains(trail, "52998224725") || strings.Contains(trail, cpf) ||
		strings.Contains(trail, user) {
		t.Error("the trail names the person:", trail)
	}
}

// TestConsoleKeys: a rotation from the console makes a new key and seals everything anew.
func TestConsoleKeys(t *testing.T) {
	d := newAdmin(t)
	d.customer()
	before := d.app.Keys.PrimaryID()
	res, _ := d.post(303, "/keys/rotate")
	if res.Header.Get("location") != "/keys?done=keys.rotated" || d.app.Keys.PrimaryID() == before {
		t.Fatal("not rotated:", res.Header)
	}
	if j := d.job("keys.rewrite", fmt.Sprint(d.app.Keys.PrimaryID())); j.State != job.Done {
		t.Fatal(j)
	}
	d.recorded("keys.rotate", "", "")
	if _, page := d.post(200, "/keys/count"); !strings.Contains(page, "<dt>Selados por antigas</dt><dd>0</dd>") {
		t.Error(page)
	}
}

// TestConsoleWork: what takes long is a job of this process: it is done, or says why not, or is cancelled.
func TestConsoleWork(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	d.breach("loja")
	d.post(303, "/breaches/loja/verify")
	if j := d.job(leak.KindVerify, "loja"); j.State != job.Done {
		t.Error(j.State, j.Error)
	}
	rec, err := d.app.Leaks.Breaches.FindBreach(ctx, "loja")
	if err != nil {
		t.Fatal(err)
	}
	checked := fmt.Sprintf("Todos os bytes conferem: %d impressões", rec.Tally.Distinct)
	if _, page := d.send("/breaches/loja", "", nil); !strings.Contains(page, checked) {
		t.Error(page)
	}
	file := filepath.Join(d.app.Config.CorporaPath(), "leak", rec.Segment)
	if err := damage(file); err != nil {
		t.Fatal(err)
	}
	d.post(303, "/breaches/loja/verify")
	if j := d.job(leak.KindVerify, "loja"); j.State != job.Failed || j.Error == "" {
		t.Error("damage was not found:", j)
	}
	d.post(404, "/breaches/nada/verify")

	// Password corpora, from an upload and from a path; a bad line refuses the file and says where it is.
	hash := func(text string) string {
		sum := sha1.Sum([]byte(text))
		return strings.ToUpper(hex.EncodeToString(sum[:]))
	}
	d.upload(
		303,
		"/passwords/upload",
		"lista.txt",
		hash("girafa")+":7\n"+hash("zebra")+":1\n",
		"algorithm",
		"sha1",
		"source",
		"equipe",
	)
	if j := d.job("passwords.import", "sha1"); j.State != job.Done {
		t.Fatal(j)
	}
	if list, err := d.app.Passwords.ReadStatus(); err != nil || len(list) == 0 || list[0].Entries != 2 ||
		list[0].Source != "equipe" {
		t.Error(list, err)
	}
	path := filepath.Join(t.TempDir(), "lista.txt")
	if err := os.WriteFile(path, []byte(hash("girafa")+":7\nisto nao\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.post(303, "/passwords/import", "algorithm", "sha1", "paths", path)
	if j := d.job("passwords.import", "sha1"); j.State != job.Failed || !strings.Contains(j.Error, "line 2") {
		t.Error(j)
	}
	d.post(422, "/passwords/import", "algorithm", "md5", "paths", path)
	d.post(422, "/passwords/import", "algorithm", "sha1", "paths", "relativo.txt")
	d.post(303, "/passwords/verify")
	if j := d.job("passwords.verify", ""); j.State != job.Done {
		t.Error(j)
	}
	d.noUploads()

	// A feed, read now although it is not due.
	folder := t.TempDir()
	d.post(303, "/feeds/new", "name", "caixa", "kind", "folder", "target", folder, "minutes", "600", "per_minute", "3")
	d.job(feed.KindRun, "caixa")
	first, err := d.app.Store.Feeds.FeedByName(ctx, "caixa")
	if err != nil || first.Settings.PerMinute != 3 {
		t.Fatal(first, err)
	}
	d.post(303, "/feeds/caixa/run")
	polltest.Until(t, "the feed was read again", func() bool {
		f, err := d.app.Store.Feeds.FeedByName(ctx, "caixa")
		return err == nil && f.LastAt.After(first.LastAt)
	})
	d.recorded("feed.run", "caixa", "")
}

// damage changes one bit in the middle of a file, and nothing around it: the server has it mapped, and would not
// outlive a look at it while it is cut.
func damage(path string) error {
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		var one [1]byte
		if _, err = file.ReadAt(one[:], info.Size()/2); err == nil {
			one[0] ^= 1
			_, err = file.WriteAt(one[:], info.Size()/2)
		}
	}
	return errors.Join(err, file.Close())
}

// TestConsoleBusyWork: the same work is not begun twice, and what a dead process left is taken up.
func TestConsoleBusyWork(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	if _, err := d.app.Store.Jobs.EnqueueJob(ctx, "passwords.verify", "", struct{}{}); err != nil {
		t.Fatal(err)
	}
	j, taken, err := d.app.Store.Jobs.TakeJobOf(ctx, "another process", "passwords.verify", "")
	if err != nil || !taken {
		t.Fatal(taken, err)
	}
	d.post(409, "/passwords/verify")
	if err := d.app.Store.Jobs.FinishJob(
		ctx,
		"another process",
		j,
		job.Ready,
		"",
	); err != nil { // as a process that stops puts it back
		t.Fatal(err)
	}
	d.post(303, "/passwords/verify")
	if got := d.job("passwords.verify", ""); got.ID != j.ID || got.State != job.Done {
		t.Error(got)
	}
}

// TestConsoleOperations are the smaller things that the command line can do too.
func TestConsoleOperations(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	p, user := d.customer()
	id := string(p.ID)

	d.post(
		303,
		"/monitoring/values",
		"partner",
		id,
		"user_hash",
		user,
		"type",
		"domain",
		"value",
		"empresa-exemplo.com.br",
	)
	d.post(
		303,
		"/monitoring/values",
		"partner",
		id,
		"user_hash",
		user,
		"type",
		"pix_key",
		"value",
		"123e4567-e89b-42d3-a456-426614174000",
	)
	d.post(422, "/monitoring/values", "partner", id, "user_hash", user, "type", "domain", "value", "nada")
	d.post(422, "/monitoring/values", "partner", id, "user_hash", user, "type", "email", "value", "ana@exemplo.com.br")
	found, _ := d.post(303, "/monitoring/find", "partner", id, "user_hash", user)
	_, page := d.send(found.Header.Get("location"), "", nil)
	if !strings.Contains(page, "Domínio") || strings.Contains(page, "maria@exemplo.com.br") {
		t.Error(page)
	}

	table := "plan_id;cpf\nouro;52998224725\nouro;11144477735\n"
	page = d.upload(200, "/subscriptions/move/table", "saidas.csv", table, "partner", id, "move", "suspend")
	if !strings.Contains(page, "1 mudada") || !strings.Contains(page, "assinatura ativa: 3") {
		t.Error(page)
	}
	if list, err := d.app.Store.Overview.SubscriptionsOfCPF(
		ctx,
		p.ID,
		"52998224725",
	); err != nil || len(list) != 1 ||
		list[0].SuspendedAt.IsZero() {
		t.Error(list, err)
	}
	d.post(404, "/subscriptions/move/holder", "partner", id, "move", "end", "holder", "12ABC34501DE35")
	d.post(422, "/subscriptions/move/holder", "partner", id, "move", "apagar", "holder", "12ABC34501DE35")
	d.recorded("subscription.suspend", id, "table")

	from := time.Now().Add(-48 * time.Hour).Format("2006-01-02T15:04")
	to := time.Now().Add(48 * time.Hour).Format("2006-01-02T15:04")
	_, page = d.send("/events/report?partner="+id+"&from="+from+"&to="+to, "", nil)
	if !strings.Contains(page, "Os mais antigos que faltam") {
		t.Error("the event of the suspension is not missed:", page)
	}
	d.post(303, "/events/replay", "partner", id, "from", from, "to", to)
	d.post(422, "/events/replay", "partner", id, "from", to, "to", from)
	d.recorded("event.replay", id, "")

	if res, yaml := d.send(
		"/content/export",
		"",
		nil,
	); !strings.Contains(yaml, "- id: ") ||
		!strings.Contains(res.Header.Get("content-disposition"), "catalogo.yaml") {
		t.Error(res.Header)
	}
	items, err := d.app.Content.ListItems(ctx)
	if err != nil {
		t.Fatal(err)
	}
	item := items[0].ID
	for _, step := range []struct {
		action  string
		retired bool
	}{{"retire", true}, {"offer", false}} {
		d.post(303, "/content/"+string(item)+"/"+step.action)
		if it, err := d.app.Content.GetItem(ctx, item); err != nil || it.Retired != step.retired {
			t.Error(step, it.Retired, err)
		}
	}

	if _, page = d.post(200, "/audit/verify"); !strings.Contains(page, "A trilha está íntegra") {
		t.Error(page)
	}
	d.post(422, "/audit/verify", "expect", "1")
	if _, page = d.post(200, "/audit/verify", "expect", "1:00"); !strings.Contains(page, "foi alterada") {
		t.Error("a head that never was is not missed:", page)
	}
}

// TestConsoleOldBreach: the page of a breach shows what was done about it, also when much was done about others since.
func TestConsoleOldBreach(t *testing.T) {
	d := newAdmin(t)
	ctx := context.Background()
	d.breach("antigo")
	for i := range 60 {
		if _, err := d.app.Store.Jobs.EnqueueJob(
			ctx,
			intake.KindImport,
			fmt.Sprint("novo-", i),
			struct{}{},
		); err != nil {
			t.Fatal(err)
		}
	}
	res, page := ask(t, d.base, http.MethodGet, "/breaches/antigo", d.cookie, nil)
	_, jobs, found := strings.Cut(page, "<h2>Tarefas</h2>")
	if res.StatusCode != http.StatusOK || !found || !strings.Contains(jobs, "Importação de vazamento") {
		t.Errorf("%d: the import is not on the page: %s", res.StatusCode, jobs)
	}
}
