// Package dumptest has what tests of imports, feeds and matches share: everything around breaches on a real store, with
// a made-up partner. Env is its main type. Only tests import it.
package dumptest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// Env is everything around breaches, on a real store.
type Env struct {
	*storetest.Env
	T          *testing.T
	Files      *library.Files
	Importer   *intake.Importer
	Library    *leak.Library
	Matcher    *leak.Matcher
	Rules      *leak.Breaches
	Monitoring *cyber.Monitoring
	Live       cyber.Owner
	Salt       string
}

// NewEnv opens one with a live partner.
func NewEnv(t *testing.T, e *storetest.Env) *Env {
	t.Helper()
	p, cred := e.NewPartner(t, partner.Live)
	v := OpenEnv(t, e)
	v.Live, v.Salt = cyber.Owner{Partner: p.ID, Mode: partner.Live}, cred.Salt
	return v
}

// OpenEnv opens one without a partner of its own.
func OpenEnv(t *testing.T, e *storetest.Env) *Env {
	t.Helper()
	files, err := library.OpenFiles(filepath.Join(e.Folder, "corpora"), "")
	if err != nil {
		t.Fatal(err)
	}
	files.OpenTable = e.Keys.OpenTable
	v := &Env{Env: e, T: t, Files: files}
	v.Importer = &intake.Importer{
		Store:       e.Breaches,
		Files:       files,
		Dir:         filepath.Join(e.Folder, "import"),
		Fingerprint: e.Keys.Fingerprint,
		Pair:        e.Keys.PairFingerprint,
		Tables:      e.Keys,
		Now:         e.Clock.Now,
		Workers:     2,
	}
	v.Library = leak.NewLibrary(e.Breaches, files, e.Keys, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := v.Library.Close(); err != nil {
			t.Error(err)
		}
	})
	v.Matcher = leak.NewMatcher(e.Breaches, files, e.Keys, e.Clock.Now)
	v.Matcher.Settle = 0
	v.Rules = leak.NewBreaches(e.Breaches, e.Clock.Now)
	v.Monitoring = cyber.NewMonitoring(e.Store.Monitoring, e.Store.Partners, v.Library, e.Keys.Fingerprint, e.Clock.Now)
	return v
}

// InOtherProcess returns the same breaches and partner as another process has them, on the same database.
func (v *Env) InOtherProcess(t *testing.T, e *storetest.Env) *Env {
	t.Helper()
	other := OpenEnv(t, e)
	other.Live, other.Salt = v.Live, v.Salt
	other.LoadPublished()
	return other
}

// LoadPublished takes up what was published.
func (v *Env) LoadPublished() {
	v.T.Helper()
	if err := v.Library.LoadPublished(context.Background()); err != nil {
		v.T.Fatal(err)
	}
}

// Watch watches a value.
func (v *Env) Watch(who cyber.Owner, user, kind, value string) {
	v.T.Helper()
	_, err := v.Monitoring.AddAsset(context.Background(),
		cyber.AssetRequest{Owner: who, User: partner.UserHash(user), Type: kind, Value: value})
	if err != nil {
		v.T.Fatalf("watch %s: %v", kind, err)
	}
}

// MakeBreach makes up what is told of a breach.
func MakeBreach(name string, kind cyber.SourceKind, exposes ...cyber.Exposed) cyber.Breach {
	return cyber.Breach{
		Name:    name,
		Title:   "Vazamento " + name,
		Date:    storetest.Start.AddDate(0, -1, 0).Truncate(24 * time.Hour),
		Kind:    kind,
		Exposes: exposes,
	}
}

// File writes a dump and returns its path.
func (v *Env) File(name, content string) string {
	v.T.Helper()
	path := filepath.Join(v.T.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		v.T.Fatal(err)
	}
	return path
}

// Import imports the files behind paths.
func (v *Env) Import(b cyber.Breach, paths ...string) intake.Outcome {
	v.T.Helper()
	inputs, err := intake.ListInputs(context.Background(), nil, paths)
	if err != nil {
		v.T.Fatal(err)
	}
	out, err := v.Importer.ImportBreach(context.Background(), intake.Spec{Breach: b, Inputs: inputs})
	if err != nil {
		v.T.Fatalf("import %s: %v", b.Name, err)
	}
	return out
}

// RunJobs does everything that is due, as the workers of a server would.
func (v *Env) RunJobs() {
	v.T.Helper()
	ctx := context.Background()
	steps := map[string]job.Step{
		leak.KindMatch:    v.Matcher.MatchBreach,
		leak.KindWithdraw: v.Matcher.WithdrawBreach,
		leak.KindRestate:  v.Matcher.RestateBreach,
		leak.KindSites:    v.Matcher.RejudgeSites,
	}
	for {
		jobs, err := v.Jobs.ClaimJobs(
			ctx,
			"w",
			[]string{leak.KindMatch, leak.KindWithdraw, leak.KindRestate, leak.KindSites},
			10,
		)
		if err != nil {
			v.T.Fatal(err)
		}
		if len(jobs) == 0 {
			return
		}
		for _, j := range jobs {
			run := &job.Run{
				Job:  j,
				Save: func(ctx context.Context, p any) error { return v.Jobs.SaveJob(ctx, "w", j.ID, p) },
			}
			err := steps[j.Kind](ctx, run)
			if err != nil && !errors.Is(err, job.ErrCancelled) {
				v.T.Fatalf("%s of %s: %v", j.Kind, j.Subject, err)
			}
			if err := v.Jobs.FinishJob(ctx, "w", j, job.Done, ""); err != nil {
				v.T.Fatal(err)
			}
		}
	}
}

// Statuses tells a person's values and their statuses, in order: "email=alerta cpf=monitorado".
func (v *Env) Statuses(who cyber.Owner, user string) string {
	v.T.Helper()
	assets, err := v.Monitoring.ListAssets(
		context.Background(),
		cyber.AssetScope{Partner: who.Partner, User: partner.UserHash(user)},
	)
	if err != nil {
		v.T.Fatal(err)
	}
	var words []string
	for _, a := range assets {
		words = append(words, a.Kind.String()+"="+string(a.Status))
	}
	return strings.Join(words, " ")
}

// FindingsOf tells a person's findings, oldest first: "email:loja:open".
func (v *Env) FindingsOf(who cyber.Owner, user string) string {
	v.T.Helper()
	all, err := v.Monitoring.ListFindings(context.Background(), who.Partner, partner.UserHash(user))
	if err != nil {
		v.T.Fatal(err)
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

// sentEvent is the part of an event's body that the checks look at.
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
		State          string `json:"state"`
		Reason         string `json:"reason"`
		Waiting        int64  `json:"waiting"`
		PerHour        int64  `json:"perHour"`
		Steps          []struct {
			Step string `json:"step"`
		} `json:"steps"`
	} `json:"data"`
}

// EventsOf tells what a partner was told, in order: "leak ana email:loja,cpf:loja", "status ana email
// monitorado>alerta" and "due ana change-password,second-factor".
func (v *Env) EventsOf(who cyber.Owner) []string {
	v.T.Helper()
	rows, err := v.DB.ReadPool().Query(`SELECT id, body FROM event WHERE partner_id = $1 ORDER BY seq`,
		who.Partner.Number())
	if err != nil {
		v.T.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var told []string
	for rows.Next() {
		var id string
		var sealed []byte
		if err := rows.Scan(&id, &sealed); err != nil {
			v.T.Fatal(err)
		}
		body, err := v.Keys.Unseal(
			seal.Place{Table: "event", Column: "body", Partner: string(who.Partner), Row: id},
			sealed,
		)
		if err != nil {
			v.T.Fatal(err)
		}
		var e sentEvent
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&e); err != nil {
			v.T.Fatal(err)
		}
		line := "status " + e.Data.UserHash + " " + e.Data.AssetType + " " + e.Data.PreviousStatus + ">" + e.Data.Status
		var parts []string
		switch e.Type {
		case "finding.step_due":
			for _, s := range e.Data.Steps {
				parts = append(parts, s.Step)
			}
			line = "due " + e.Data.UserHash + " " + strings.Join(parts, ",")
		case "monitoring.leak_detected":
			for _, f := range e.Data.Findings {
				parts = append(parts, f.AssetType+":"+f.Breach)
			}
			line = "leak " + e.Data.UserHash + " " + strings.Join(parts, ",")
		case "monitoring.first_looks_changed":
			line = fmt.Sprint("looks ", e.Data.State, " ", e.Data.Reason, " ", e.Data.Waiting, " ", e.Data.PerHour)
		}
		told = append(told, line)
	}
	if err := rows.Err(); err != nil {
		v.T.Fatal(err)
	}
	return told
}

// WantEqual compares and says what differs.
func (v *Env) WantEqual(what, got, want string) {
	v.T.Helper()
	if got != want {
		v.T.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

// OnFingerprint has fn called before every value that an import fingerprints, and returns how to undo that.
func OnFingerprint(im *intake.Importer, fn func()) (undo func()) {
	plain := im.Fingerprint
	im.Fingerprint = func(kind byte, normal []byte) uint64 {
		fn()
		return plain(kind, normal)
	}
	return func() { im.Fingerprint = plain }
}

// GzipText packs a text.
func GzipText(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// CountLines counts the lines that begin so.
func CountLines(lines []string, prefix string) int {
	n := 0
	for _, l := range lines {
		if strings.HasPrefix(l, prefix) {
			n++
		}
	}
	return n
}

// Names tells all breaches with their states and how many addresses were found: "loja:published:2".
func (v *Env) Names() string {
	v.T.Helper()
	all, err := v.Rules.ListBreaches(context.Background())
	if err != nil {
		v.T.Fatal(err)
	}
	var names []string
	for _, r := range all {
		names = append(names, fmt.Sprintf("%s:%s:%d", r.Name, r.State, r.Tally.Found["email"]))
	}
	return strings.Join(names, " ")
}

// Append adds one file to a breach and does the work that follows.
func (v *Env) Append(name, content string, force bool) (intake.Outcome, error) {
	v.T.Helper()
	inputs, err := intake.ListInputs(v.T.Context(), nil, []string{v.File("more.csv", content)})
	if err != nil {
		v.T.Fatal(err)
	}
	out, err := v.Importer.AppendToBreach(
		v.T.Context(),
		intake.Spec{Breach: cyber.Breach{Name: name}, Inputs: inputs, Force: force},
	)
	v.RunJobs()
	v.LoadPublished()
	return out, err
}

// ListSegments returns the names of the segment files in the folder of the corpora.
func (v *Env) ListSegments() ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(v.Folder, "corpora", "*.seg"))
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths, err
}
