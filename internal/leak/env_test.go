package leak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// env is everything around breaches, on a real store.
type env struct {
	*storetest.Env
	t          *testing.T
	depot      *corpora.Depot
	importer   *leak.Importer
	library    *leak.Library
	matcher    *leak.Matcher
	breaches   *leak.Breaches
	monitoring *cyber.Monitoring
	live       cyber.Owner
	salt       string
}

func newEnv(t *testing.T, e *storetest.Env) *env {
	t.Helper()
	p, cred := e.NewPartner(t, partner.Live)
	v := openEnv(t, e)
	v.live, v.salt = cyber.Owner{Partner: p.ID, Mode: partner.Live}, cred.Salt
	return v
}

func openEnv(t *testing.T, e *storetest.Env) *env {
	t.Helper()
	depot, err := corpora.Open(filepath.Join(e.Folder, "corpora"), "")
	if err != nil {
		t.Fatal(err)
	}
	v := &env{Env: e, t: t, depot: depot}
	v.importer = &leak.Importer{
		Store: e.Store, Depot: depot, Dir: filepath.Join(e.Folder, "import"), Fingerprints: func() leak.Fingerprints { return e.Keys.Fingerprints() }, Now: e.Clock.Now, Workers: 2,
	}
	v.library = leak.NewLibrary(e.Store, depot, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := v.library.Close(); err != nil {
			t.Error(err)
		}
	})
	v.matcher = leak.NewMatcher(e.Store, depot, e.Clock.Now)
	v.matcher.SetSettle(0)
	v.breaches = leak.NewBreaches(e.Store, e.Clock.Now)
	v.monitoring = cyber.NewMonitoring(e.Store, v.library, e.Keys.Fingerprint, e.Clock.Now)
	return v
}

func (v *env) load() {
	v.t.Helper()
	if err := v.library.Load(context.Background()); err != nil {
		v.t.Fatal(err)
	}
}

func (v *env) watch(who cyber.Owner, user, kind, value string) {
	v.t.Helper()
	if err := v.monitoring.Watch(context.Background(), who, partner.UserHash(user), kind, value); err != nil {
		v.t.Fatalf("watch %s: %v", kind, err)
	}
}

func breachNamed(name string, kind cyber.SourceKind, exposes ...cyber.Exposed) cyber.Breach {
	return cyber.Breach{Name: name, Title: "Vazamento " + name, Date: storetest.Start.AddDate(0, -1, 0).Truncate(24 * time.Hour), Kind: kind, Exposes: exposes}
}

// file writes a dump and returns its path.
func (v *env) file(name, content string) string {
	v.t.Helper()
	path := filepath.Join(v.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return path
}

func (v *env) imports(b cyber.Breach, paths ...string) leak.Outcome {
	v.t.Helper()
	inputs, err := leak.Inputs(context.Background(), nil, paths)
	if err != nil {
		v.t.Fatal(err)
	}
	out, err := v.importer.Import(context.Background(), leak.Spec{Breach: b, Inputs: inputs})
	if err != nil {
		v.t.Fatalf("import %s: %v", b.Name, err)
	}
	return out
}

// runJobs does everything that is due, as the workers of a server would.
func (v *env) runJobs() {
	v.t.Helper()
	ctx := context.Background()
	steps := map[string]job.Step{leak.KindMatch: v.matcher.Match, leak.KindWithdraw: v.matcher.Withdraw, leak.KindRestate: v.matcher.Restate}
	for {
		jobs, err := v.ClaimJobs(ctx, "w", []string{leak.KindMatch, leak.KindWithdraw, leak.KindRestate}, 10)
		if err != nil {
			v.t.Fatal(err)
		}
		if len(jobs) == 0 {
			return
		}
		for _, j := range jobs {
			run := &job.Run{Job: j, Save: func(ctx context.Context, p any) error { return v.SaveJob(ctx, "w", j.ID, p) }}
			err := steps[j.Kind](ctx, run)
			if err != nil && !errors.Is(err, job.ErrCancelled) {
				v.t.Fatalf("%s of %s: %v", j.Kind, j.Subject, err)
			}
			if err := v.FinishJob(ctx, "w", j, job.Done, ""); err != nil {
				v.t.Fatal(err)
			}
		}
	}
}

// statuses tells a person's values and their statuses, in order: "email=alerta cpf=monitorado".
func (v *env) statuses(who cyber.Owner, user string) string {
	v.t.Helper()
	assets, err := v.monitoring.Watched(context.Background(), who.Partner, partner.UserHash(user))
	if err != nil {
		v.t.Fatal(err)
	}
	var words []string
	for _, a := range assets {
		words = append(words, a.Kind.String()+"="+string(a.Status))
	}
	return strings.Join(words, " ")
}

// findings tells a person's findings, oldest first: "email:loja:open".
func (v *env) findings(who cyber.Owner, user string) string {
	v.t.Helper()
	all, err := v.monitoring.Findings(context.Background(), who.Partner, partner.UserHash(user))
	if err != nil {
		v.t.Fatal(err)
	}
	var words []string
	for _, f := range all {
		state := string(f.Resolution)
		if f.Open() {
			state = "open"
		}
		words = append([]string{f.Kind.String() + ":" + f.Breach.Name + ":" + state}, words...)
	}
	return strings.Join(words, " ")
}

type sentEvent struct {
	Type string `json:"type"`
	Data struct {
		UserHash string `json:"userHash"`
		Findings []struct {
			AssetType string `json:"assetType"`
			Breach    string `json:"breach"`
			Status    string `json:"status"`
		} `json:"findings"`
		AssetType      string `json:"assetType"`
		PreviousStatus string `json:"previousStatus"`
		Status         string `json:"status"`
	} `json:"data"`
}

// events tells what a partner was told, in order: "leak ana email:loja,cpf:loja" and "status ana email monitorado>alerta".
func (v *env) events(who cyber.Owner) []string {
	v.t.Helper()
	rows, err := v.DB.Reader().Query(`SELECT id, body FROM event WHERE partner_id = $1 ORDER BY seq`, string(who.Partner))
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var told []string
	for rows.Next() {
		var id string
		var sealed []byte
		if err := rows.Scan(&id, &sealed); err != nil {
			v.t.Fatal(err)
		}
		body, err := v.Keys.Unseal(seal.Place{Table: "event", Column: "body", Partner: string(who.Partner), Row: id}, sealed)
		if err != nil {
			v.t.Fatal(err)
		}
		var e sentEvent
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&e); err != nil {
			v.t.Fatal(err)
		}
		line := "status " + e.Data.UserHash + " " + e.Data.AssetType + " " + e.Data.PreviousStatus + ">" + e.Data.Status
		if e.Type == "monitoring.leak_detected" {
			var parts []string
			for _, f := range e.Data.Findings {
				parts = append(parts, f.AssetType+":"+f.Breach)
			}
			line = "leak " + e.Data.UserHash + " " + strings.Join(parts, ",")
		}
		told = append(told, line)
	}
	if err := rows.Err(); err != nil {
		v.t.Fatal(err)
	}
	return told
}

// want compares and says what differs.
func (v *env) want(what, got, want string) {
	v.t.Helper()
	if got != want {
		v.t.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

// onFingerprint has fn called before every value that an import fingerprints, and returns how to undo that.
func onFingerprint(im *leak.Importer, fn func()) (undo func()) {
	plain := im.Fingerprints
	im.Fingerprints = func() leak.Fingerprints { return watchedFingerprints{plain(), fn} }
	return func() { im.Fingerprints = plain }
}

type watchedFingerprints struct {
	leak.Fingerprints
	fn func()
}

func (w watchedFingerprints) Add(kind byte, normal []byte) {
	w.fn()
	w.Fingerprints.Add(kind, normal)
}
