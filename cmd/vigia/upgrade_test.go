package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// nextMigration is what the release after this one may bring: it adds, with defaults, to tables that are written all
// the time.
const nextMigration = `
CREATE TABLE next_release (id TEXT PRIMARY KEY, note TEXT NOT NULL);
ALTER TABLE subscription ADD COLUMN next_release TEXT NOT NULL DEFAULT '';
ALTER TABLE asset ADD COLUMN next_release BIGINT NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN next_release TEXT;
CREATE INDEX subscription_next_release ON subscription (partner_id, next_release);
`

// asNextRelease is set for the process that is the release after this one.
const asNextRelease = "VIGIA_TEST_NEXT_RELEASE"

// nextRelease is how the release after this one is started: the test's own program, which is this tree, with one
// migration more. To build one would be to compile again whatever stands on the store.
func nextRelease(t *testing.T) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"env", asNextRelease + "=1", program}
}

// becomeNextRelease lays the migration of the release after this one beside the others.
func becomeNextRelease() error {
	files := fstest.MapFS{}
	names, err := fs.Glob(store.Migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(store.Migrations, name)
		if err != nil {
			return err
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	files[fmt.Sprintf("migrations/%04d_next_release.sql", len(names)+1)] = &fstest.MapFile{Data: []byte(nextMigration)}
	store.Migrations = files
	return nil
}

func build(t *testing.T, folder, path string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
}

// TestUpgrade replaces a release by the next one: replicas on PostgreSQL one by one and under load, the embedded
// database with a stop between. Every operation of the contract works on the old release alone, on both while they run
// side by side on the migrated database, and on the new one alone; no request fails and nothing acknowledged is lost.
// Here "old" is this tree and "new" is this tree with one migration more, so it shows how a binary bears a newer
// database; TestUpgradeFromHistory has a real pair.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	before, after := binary(t, ""), nextRelease(t)
	t.Run("postgres", func(t *testing.T) { upgradeReplicas(t, before, after) })
	t.Run("sqlite", func(t *testing.T) { upgradeInPlace(t, before, after) })
}

// TestUpgradeFromHistory upgrades from the last commit that did not have the newest migration.
func TestUpgradeFromHistory(t *testing.T) {
	if !long() {
		t.Skip("needs the history of the repository: VIGIA_TEST_LONG=1")
	}
	before := historicBinary(t)
	t.Run("postgres", func(t *testing.T) { upgradeReplicas(t, before, []string{binary(t, "")}) })
	t.Run("sqlite", func(t *testing.T) { upgradeInPlace(t, before, []string{binary(t, "")}) })
}

// historicBinary builds the newest commit that has all migrations but the last.
func historicBinary(t *testing.T) string {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v; this test needs the history of the repository", args, err)
		}
		return string(out)
	}
	list, err := store.MigrationList()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range list[:len(list)-1] {
		want = append(want, fmt.Sprintf("internal/store/migrations/%04d_%s.sql", m.Version, m.Name))
	}
	for _, commit := range strings.Fields(git("rev-list", "--first-parent", "HEAD", "--", ".")) {
		if strings.TrimSpace(git("ls-tree", "--name-only", commit, "internal/store/migrations/")) != strings.Join(want, "\n") {
			continue
		}
		folder := t.TempDir()
		git("archive", "--output", filepath.Join(folder, "tree.tar"), commit)
		if out, err := exec.CommandContext(t.Context(), "tar", "-xf", filepath.Join(folder, "tree.tar"), "-C", folder).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		path := filepath.Join(folder, "bin", "vigia")
		build(t, filepath.Join(folder, "cmd/vigia"), path)
		t.Log("the release before is commit", commit)
		return path
	}
	t.Fatal("no commit has all migrations but the last: is the history there?")
	return ""
}

// sandboxOf makes a sandbox partner by a release's own command line.
func sandboxOf(t *testing.T, binary, folder, database string) (key, salt string) {
	t.Helper()
	args := []string{
		"partner",
		"create",
		"--name",
		"Contrato",
		"--sandbox",
		"--rate",
		"100000",
		"--json",
		"--data",
		folder,
	}
	if database != "" {
		args = append(args, "--database", database)
	}
	out, err := exec.CommandContext(t.Context(), binary, args...).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made := decode(t, string(out))
	return fmt.Sprint(made["api_key"]), fmt.Sprint(made["salt"])
}

func upgradeReplicas(t *testing.T, before string, after []string) {
	folder, database := filepath.Join(t.TempDir(), "data"), storetest.NewAddress(t, sqldb.PostgreSQL, "")
	key, salt := sandboxOf(t, before, folder, database)
	servers := make([]*server, 2)
	for i := range servers {
		servers[i] = newServer(t, before, folder, database)
		servers[i].args = append(servers[i].args, gentle...)
		servers[i].start(t)
		t.Cleanup(func() { servers[i].kill() })
	}
	b := newBalancer(t, servers...)
	person := 0
	contract := func(state string, servers ...*server) {
		for _, s := range servers {
			person++
			if err := everyOperation("http://"+s.address, key, salt, madeUpCPF(int64(person))); err != nil {
				t.Errorf("%s: %v", state, err)
			}
		}
	}
	contract("old alone", servers...)

	var stop atomic.Bool
	var served, created atomic.Int64
	var clients sync.WaitGroup
	for n := range 4 {
		clients.Go(func() {
			client := &strictClient{address: b.listener.Addr().String()}
			defer client.close()
			for !stop.Load() {
				method, path, body := http.MethodGet, "/v1/subscriptions?page_size=20", ""
				if n%2 == 1 {
					method, path = http.MethodPost, "/v1/subscriptions"
					body = "[" + strings.TrimSpace(fmt.Sprintf(itemJSON, madeUpCPF(1_000_000+created.Add(1)))) + "]"
				}
				if status, err := client.ask(method, path, key, body); err != nil || status != http.StatusOK {
					t.Errorf("%s %s during the upgrade: %d %v", method, path, status, err)
					return
				}
				served.Add(1)
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	servers[0].become(after)
	b.restart(t, 0)                                                                              // migrates, and serves
	for deadline := time.Now().Add(time.Minute); !ready(servers[1]); time.Sleep(balancerLooks) { // a starved one may say no for a moment
		if time.Now().After(deadline) {
			t.Fatal("the replica of the old release is not ready any more")
		}
	}
	contract("side by side", servers...)
	so := served.Load()
	polltest.Until(t, "40 more requests are served", func() bool { return served.Load() >= so+40 || t.Failed() })
	servers[1].become(after)
	b.restart(t, 1)
	contract("new alone", servers...)
	stop.Store(true)
	clients.Wait()
	refusesNewer(t, before, folder, database)

	o := &oracle{key: key, servers: servers}
	seen, total := o.listed(t)
	for n := range created.Load() {
		if seen[madeUpCPF(1_000_001+n)] != 1 {
			t.Errorf("a subscription that was acknowledged is there %d times", seen[madeUpCPF(1_000_001+n)])
		}
	}
	if want := created.Load() + int64(person); total != want {
		t.Errorf("%d subscriptions, %d were acknowledged", total, want)
	}
	t.Logf(
		"%d requests during the upgrade, none failed; the contract in three states, %d times in all",
		served.Load(),
		person,
	)
}

// upgradeInPlace is the upgrade of the embedded database: stop, put the new binary in place, start.
func upgradeInPlace(t *testing.T, before string, after []string) {
	folder := filepath.Join(t.TempDir(), "data")
	key, salt := sandboxOf(t, before, folder, "")
	s := newServer(t, before, folder, "")
	s.start(t)
	t.Cleanup(func() { s.kill() })
	contract := func(person int64, state string) {
		if err := everyOperation("http://"+s.address, key, salt, madeUpCPF(person)); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
	contract(0, "old")
	s.become(after)
	restart(t, s)
	contract(1, "new")
	restart(t, s)
	seen, total := (&oracle{key: key, servers: []*server{s}}).listed(t)
	if total != 2 || seen[madeUpCPF(0)] != 1 || seen[madeUpCPF(1)] != 1 {
		t.Error("of two subscriptions there are", total, seen)
	}
	refusesNewer(t, before, folder, "")
}

// become has the next start be another program's.
func (s *server) become(program []string) { s.args = slices.Concat(program, s.args[1:]) }

func ready(s *server) bool {
	res, err := http.Get("http://" + s.console + "/readyz")
	if err == nil {
		_ = res.Body.Close()
	}
	return err == nil && res.StatusCode == http.StatusOK
}

// refusesNewer: the way back is a backup. An old binary that is started on the migrated database says so and touches
// nothing.
func refusesNewer(t *testing.T, before, folder, database string) {
	t.Helper()
	args := []string{"migrate", "--data", folder}
	if database != "" {
		args = append(args, "--database", database)
	}
	out, err := exec.CommandContext(t.Context(), before, args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "newer") {
		t.Errorf("the old release on the new database: %v, %s", err, out)
	}
}

// everyOperation calls each operation of the contract for one person of a sandbox partner, sends nothing twice, and
// checks what came of it.
func everyOperation(address, key, salt, cpf string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c, err := client.New(client.Config{URL: address, Key: key, Attempts: 1})
	if err != nil {
		return err
	}
	who := client.UserHash(cpf, salt)
	var failure error
	step := func(name string, err error, right bool) {
		if err != nil {
			failure = errors.Join(failure, fmt.Errorf("%s: %w", name, err))
		} else if !right {
			failure = errors.Join(failure, fmt.Errorf("%s: a wrong answer", name))
		}
	}
	services, err := c.ListSupportServices(ctx)
	step("listSupportServices", err, len(services.Services) > 0)
	step(
		"addMonitoredAsset",
		c.AddMonitoredAsset(
			ctx,
			client.NewMonitoredAsset{Type: "email", UserHash: who, Value: "p" + cpf + "@vazamento.test"},
		),
		true,
	)
	assets, err := c.ListMonitoredAssets(ctx, who)
	step("listMonitoredAssets", err, len(assets) == 1)
	findings, err := c.ListFindings(ctx, who)
	step("listFindings", err, len(findings) > 0)
	_, err = c.RiskScore(ctx, who)
	step("riskScore", err, true)
	if failure != nil {
		return failure
	}
	step(
		"resolveFinding",
		c.ResolveFinding(ctx, findings[0].ID, client.Resolution{UserHash: who, Reason: "password_changed"}),
		true,
	)
	step("removeMonitoredAsset", c.RemoveMonitoredAsset(ctx, assets[0].ID, who), true)
	opened, err := c.OpenSupportCase(ctx, client.NewCase{
		ServiceID:    services.Services[0].ID,
		UserHash:     who,
		Appointments: []client.Appointment{{Appointment: "2027-02-03T14:00:00.000Z"}},
		Questions:    []client.TriageAnswer{{Question: "Qual é o sistema do seu celular?", Answer: "Android"}},
	}, client.IdempotencyKey("caso-"+cpf))
	step("openSupportCase", err, opened.Task.ID != "")
	_, err = c.IssueProtectionKey(
		ctx,
		client.NewProtectionKey{OperatingSystem: "android", Type: "antivirus", DeviceName: "Celular", UserHash: who},
	)
	step("issueProtectionKey", err, true)
	devices, err := c.ListProtectedDevices(ctx, client.WithUserHash(who))
	step("listProtectedDevices", err, len(devices.ProtectedDevices) == 1)
	_, err = c.CheckPassword(ctx, "password")
	step("checkPasswordPrefix", err, true)
	advice, err := c.ListAdvice(ctx, who)
	step("listAdvice", err, true)
	for _, a := range advice {
		if len(a.AnswerOptions) > 0 {
			step(
				"answerValidationQuestion",
				c.AnswerValidationQuestion(
					ctx,
					who,
					client.Answer{CatalogID: a.CatalogID, Value: a.AnswerOptions[0].Value},
				),
				true,
			)
			break
		}
	}
	_, err = c.InsuranceCoverage(ctx, who)
	step("insuranceCoverage", err, true)
	made, err := c.CreateSubscriptions(ctx, []client.NewSubscription{{
		StartDate: "2026-02-01", PlanID: "ouro", Beneficiary: client.Beneficiary{
			PrimaryCard: "4111111111111111",
			UserCard:    "4111111111111111",
			Name:        "Bruno Lima",
			CPF:         cpf,
			BirthDate:   "1985-11-02",
			Gender:      "M",
			Email:       "bruno.lima@exemplo.com.br",
			PhoneNumber: "5521987654321",
			Address: client.Address{
				Zipcode:      "20040002",
				Street:       "Avenida Central",
				Number:       "S/N",
				Neighborhood: "Centro",
				City:         "Rio de Janeiro",
				State:        "RJ",
			},
		},
	}}, client.IdempotencyKey("lote-"+cpf))
	step("createSubscriptions", err, len(made.NotCreatedItems) == 0)
	page, err := c.ListSubscriptions(ctx, client.WithPage(1), client.WithPageSize(20))
	step("listSubscriptions", err, len(page.Data) > 0)
	one, err := c.SubscriptionByPlanAndCPF(ctx, "ouro", cpf)
	step("subscriptionByPlanAndCpf", err, one.Beneficiary.Name == "Bruno Lima")
	events, err := c.ListEvents(ctx, client.WithLimit(100))
	step("listEvents", err, len(events.Events) > 0)
	return failure
}
