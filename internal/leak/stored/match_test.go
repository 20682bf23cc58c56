package stored_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const dump = "id;nome;email;cpf;telefone;cartao\n" +
	"1;Ana;ANA@Exemplo.com.br;529.982.247-25;(11) 8765-4321;4111 1111 1111 1111\n" +
	"2;Bia;bia@rh.empresa-exemplo.com.br;11144477735;;\n"

func TestImportFindsWatchedValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Watch(v.Live, "ana", "cpf", "52998224725")
		v.Watch(v.Live, "ana", "phone", "+55 11 98765-4321") // the dump has it without its ninth digit
		v.Watch(v.Live, "ana", "credit_card", "4111111111111111")
		v.Watch(v.Live, "ana", "email", "outra@exemplo.com.br")
		v.Watch(v.Live, "caio", "email", "caio@exemplo.com.br")
		if _, err := v.Monitoring.AddAsset(
			context.Background(),
			cyber.AssetRequest{
				Owner: v.Live,
				User:  "empresa",
				Group: cyber.OperatorAdds,
				Type:  "domain",
				Value: "empresa-exemplo.com.br",
			},
		); err != nil {
			t.Fatal(err)
		}
		out := v.Import(
			dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail, cyber.ExposedPhone),
			v.File("loja.csv", dump),
		)
		if got := out.Tally.Found; got["email"] != 2 || got["cpf"] != 2 || got["phone"] != 1 ||
			got["credit_card"] != 1 {
			t.Errorf("counted %v", got)
		}
		for range 2 { // a match may run twice
			v.RunJobs()
			v.WantEqual(
				"statuses",
				v.Statuses(v.Live, "ana"),
				"email=comprometido cpf=comprometido phone=comprometido credit_card=comprometido email=monitorado",
			)
			v.WantEqual(
				"findings",
				v.FindingsOf(v.Live, "ana"),
				"email:loja:open cpf:loja:open phone:loja:open credit_card:loja:open",
			)
			v.WantEqual(
				"domain",
				v.Statuses(v.Live, "empresa"),
				"domain=comprometido",
			) // a CPF and a name stand beside the address
			v.WantEqual("nobody", v.Statuses(v.Live, "caio"), "email=monitorado")
			told := v.EventsOf(v.Live)
			if len(told) != 7 || dumptest.CountLines(told, "leak ana") != 1 ||
				dumptest.CountLines(told, "leak empresa domain:loja") != 1 ||
				dumptest.CountLines(told, "status ") != 5 {
				t.Errorf("told %s", strings.Join(told, "\n"))
			}
			if _, err := e.Jobs.EnqueueJob(context.Background(), leak.KindMatch, "loja", struct{}{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestNewValueIsFoundInOldBreaches: the same question the other way round, in the request itself.
func TestNewValueIsFoundInOldBreaches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.Import(dumptest.MakeBreach("velho", cyber.SourceBreach, cyber.ExposedEmail), v.File("a.txt", "ana@exemplo.com.br\n"))
		v.Clock.Advance(time.Hour)
		v.Import(
			dumptest.MakeBreach("senhas", cyber.SourceBreach, cyber.ExposedEmail, cyber.ExposedPassword),
			v.File("b.txt", "x ana@exemplo.com.br:123 y"),
		)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "Ana@exemplo.com.br")
		v.WantEqual("findings", v.FindingsOf(v.Live, "ana"), "email:velho:open email:senhas:open")
		v.WantEqual(
			"events",
			strings.Join(v.EventsOf(v.Live), "; "),
			"leak ana email:velho,email:senhas; status ana email monitorado>comprometido",
		)
		v.RunJobs()
		v.WantEqual(
			"after the match",
			strings.Join(v.EventsOf(v.Live), "; "),
			"leak ana email:velho,email:senhas; status ana email monitorado>comprometido",
		)
	})
}

// TestNovelty: a combolist made of what was already found is a finding without an alert.
func TestNovelty(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Watch(v.Live, "bia", "email", "bia@exemplo.com.br")
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("a.txt", "ana@exemplo.com.br"))
		v.RunJobs()
		v.Import(
			dumptest.MakeBreach("coletanea", cyber.SourceCombolist, cyber.ExposedEmail),
			v.File("b.txt", "ana@exemplo.com.br\nbia@exemplo.com.br"),
		)
		v.RunJobs()
		v.WantEqual("findings", v.FindingsOf(v.Live, "ana"), "email:loja:open email:coletanea:open")
		told := strings.Join(v.EventsOf(v.Live), "; ")
		v.WantEqual(
			"events",
			told,
			"leak ana email:loja; status ana email monitorado>alerta; leak bia email:coletanea; status bia email monitorado>alerta",
		)
	})
}

func TestRetract(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Import(dumptest.MakeBreach("certo", cyber.SourceBreach, cyber.ExposedEmail), v.File("a.txt", "ana@exemplo.com.br"))
		v.Import(dumptest.MakeBreach("errado", cyber.SourceStealer, cyber.ExposedEmail), v.File("b.txt", "ana@exemplo.com.br"))
		v.RunJobs()
		v.LoadPublished()
		v.WantEqual("before", v.Statuses(v.Live, "ana"), "email=comprometido")
		if _, err := v.Rules.RetractBreach(context.Background(), "errado"); err != nil {
			t.Fatal(err)
		}
		v.RunJobs()
		v.WantEqual("after", v.Statuses(v.Live, "ana"), "email=alerta")
		v.WantEqual("findings", v.FindingsOf(v.Live, "ana"), "email:certo:open email:errado:retracted")
		v.LoadPublished()
		v.Watch(v.Live, "bia", "email", "ana@exemplo.com.br")
		v.WantEqual("new value", v.FindingsOf(v.Live, "bia"), "email:certo:open")
		names, err := v.ListSegments()
		if err != nil || len(names) != 1 || !strings.HasPrefix(names[0], "certo-") {
			t.Errorf("files left: %v, %v", names, err)
		}
		inputs, err := intake.ListInputs(context.Background(), nil, []string{v.File("b.txt", "ana@exemplo.com.br")})
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Importer.ImportBreach(
			context.Background(),
			intake.Spec{Breach: dumptest.MakeBreach("errado", cyber.SourceBreach, cyber.ExposedEmail), Inputs: inputs},
		)
		if !errors.Is(err, leak.ErrRetracted) {
			t.Errorf("importing a retracted name: %v", err)
		}
	})
}

// TestEdit: what an operator learns later changes statuses, and says so.
func TestEdit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("a.txt", "ana@exemplo.com.br"))
		v.RunJobs()
		_, err := v.Rules.EditBreach(context.Background(), "loja", func(b *cyber.Breach) {
			b.Exposes, b.Name = append(b.Exposes, cyber.ExposedPassword), "outro"
		})
		if err != nil {
			t.Fatal(err)
		}
		v.RunJobs()
		v.WantEqual("status", v.Statuses(v.Live, "ana"), "email=comprometido")
		if told := v.EventsOf(v.Live); told[len(told)-1] != "status ana email alerta>comprometido" {
			t.Errorf("told %v", told)
		}
	})
}

// TestSandboxNeverMeetsCorpora in either direction.
func TestSandboxNeverMeetsCorpora(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		p, _ := e.NewPartner(t, partner.Sandbox)
		sandbox := cyber.Owner{Partner: p.ID, Mode: partner.Sandbox}
		v.LoadPublished()
		v.Watch(sandbox, "ana", "email", "ana@exemplo.com.br")
		v.Import(
			dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail),
			v.File("a.txt", "ana@exemplo.com.br bia@exemplo.com.br joao@vazamento.test"),
		)
		v.RunJobs()
		v.LoadPublished()
		v.Watch(sandbox, "bia", "email", "bia@exemplo.com.br")
		v.WantEqual(
			"statuses",
			v.Statuses(sandbox, "ana")+v.Statuses(sandbox, "bia"),
			"email=monitoradoemail=monitorado",
		)
		v.Watch(v.Live, "joao", "email", "joao@vazamento.test")
		v.WantEqual("live", v.FindingsOf(v.Live, "joao"), "email:loja:open")
		if n, err := v.Library.SettleDueLooks(context.Background()); err != nil || n != 0 {
			t.Errorf("settled %d, %v", n, err)
		}
	})
}

// meanwhile is a store that does something when due looks have been read: before what was probed for them is kept.
type meanwhile struct {
	leak.Store
	do []func()
}

func (m *meanwhile) ListDueLooks(ctx context.Context, after leak.DuePlace, limit int) ([]leak.DueLook, error) {
	due, err := m.Store.ListDueLooks(ctx, after, limit)
	if len(m.do) > 0 {
		m.do[0]()
		m.do = m.do[1:]
	}
	return due, err
}

// TestDueLooksWhilePublishing: first looks go on while a command and another replica publish, and see what these
// published.
func TestDueLooksWhilePublishing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		command := v.InOtherProcess(t, e)
		replica := v.InOtherProcess(t, e)
		var items []cyber.BulkItem
		var text strings.Builder
		for i := range 450 {
			value := fmt.Sprintf("p%d@exemplo.com.br", i)
			items = append(items, cyber.BulkItem{User: fmt.Sprint("u", i), Kind: "email", Value: value})
			text.WriteString(value + "\n")
		}
		dump := v.File("a.txt", text.String())
		if added, err := v.Monitoring.AddAssets(t.Context(), v.Live, items); err != nil || len(added.Refused) > 0 {
			t.Fatal(added, err)
		}
		v.LoadPublished()
		publish := func(from *dumptest.Env, name string) func() {
			return func() { from.Import(dumptest.MakeBreach(name, cyber.SourceBreach, cyber.ExposedEmail), dump) }
		}
		busy := &meanwhile{Store: e.Breaches, do: []func(){
			publish(command, "loja"),
			publish(replica, "banco"),
			publish(command, "clube"),
		}}
		library := leak.NewLibrary(busy, v.Files, e.Keys, slog.New(slog.DiscardHandler))
		defer func() {
			if err := library.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := library.LoadPublished(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := library.SettleDueLooks(t.Context()); err != nil || n != len(items) {
			t.Errorf("settled %d of %d: %v", n, len(items), err)
		}
		for _, user := range []string{"u0", "u199", "u200", "u449"} {
			if got := strings.Count(v.FindingsOf(v.Live, user), "email:"); got != 3 {
				t.Errorf("%s is found in %d of three breaches", user, got)
			}
		}
		if due, err := e.Breaches.ListDueLooks(t.Context(), leak.DuePlace{}, 1); err != nil || len(due) != 0 {
			t.Errorf("%d are due still: %v", len(due), err)
		}
	})
}

// TestPendingValues: what a process without the newest segments adds is probed by one that has them.
func TestPendingValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br") // before the first load: nobody can be asked
		v.LoadPublished()
		v.Import(
			dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail),
			v.File("a.txt", "ana@exemplo.com.br bia@exemplo.com.br"),
		)
		v.Watch(v.Live, "bia", "email", "bia@exemplo.com.br") // published, but not yet loaded here
		v.WantEqual("before", v.FindingsOf(v.Live, "ana")+v.FindingsOf(v.Live, "bia"), "")
		if n, err := v.Library.SettleDueLooks(context.Background()); err != nil || n != 2 {
			t.Errorf("settled %d, %v", n, err)
		}
		v.WantEqual(
			"after",
			v.FindingsOf(v.Live, "ana")+" "+v.FindingsOf(v.Live, "bia"),
			"email:loja:open email:loja:open",
		)
		if n, err := v.Library.SettleDueLooks(context.Background()); err != nil || n != 0 {
			t.Errorf("settled %d again, %v", n, err)
		}
		v.RunJobs()
		if told := v.EventsOf(v.Live); dumptest.CountLines(told, "leak") != 2 {
			t.Errorf("told %v", told)
		}
	})
}

// TestPeopleAcrossBatchesAreToldOnce: the values of a person were added at different times and stand in different batches
// of a match, of which one is read while the one before is written. Each person hears once of all of theirs.
func TestPeopleAcrossBatchesAreToldOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		const people = 300 // and their values fill more than two batches of 250
		var lines strings.Builder
		for _, at := range []string{"casa", "trabalho"} {
			var items []cyber.BulkItem
			for n := range people {
				address := fmt.Sprintf("p%d@%s.exemplo.com.br", n, at)
				items = append(items, cyber.BulkItem{User: fmt.Sprint("u", n), Kind: "email", Value: address})
				lines.WriteString(address + "\n")
			}
			if _, err := v.Monitoring.AddAssets(t.Context(), v.Live, items); err != nil {
				t.Fatal(err)
			}
		}
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("a.txt", lines.String()))
		v.RunJobs()
		told := v.EventsOf(v.Live)
		if leaks := dumptest.CountLines(told, "leak "); leaks != people {
			t.Errorf("%d alerts for %d people", leaks, people)
		}
		if changes := dumptest.CountLines(told, "status "); changes != 2*people {
			t.Errorf("%d changes of %d values", changes, 2*people)
		}
		v.WantEqual("findings", v.FindingsOf(v.Live, "u0"), "email:loja:open email:loja:open")
		j, err := v.Jobs.NewestJobOf(t.Context(), leak.KindMatch, "loja")
		var p leak.MatchProgress
		if err == nil {
			err = json.Unmarshal(j.Progress, &p)
		}
		if err != nil || p.Hits != 2*people {
			t.Errorf("progress %+v, %v", p, err)
		}
	})
}

// TestForgottenValueIsErased with all that was known of it.
func TestForgottenValueIsErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("a.txt", "ana@exemplo.com.br"))
		v.RunJobs()
		assets, err := v.Monitoring.ListAssets(
			context.Background(),
			cyber.AssetScope{Partner: v.Live.Partner, User: "ana"},
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Monitoring.DeleteAsset(
			context.Background(),
			cyber.AssetScope{Partner: v.Live.Partner, User: "ana", Group: cyber.ContractShows},
			assets[0].ID,
		); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"asset", "finding", "asset_history"} {
			var n int
			if err := v.DB.ReadPool().QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil || n != 0 {
				t.Errorf("%s keeps %d rows, %v", table, n, err)
			}
		}
	})
}

// knowsNothing is a process that believes to know every breach there is, and has not noticed the newest.
type knowsNothing struct{ cyber.Unasked }

func (knowsNothing) ProbeFingerprint(uint64) cyber.Sighting { return cyber.Sighting{Epoch: 1 << 40} }

// TestLastLook: a value that is added after the match has gone through the values, by a process that has not noticed
// the breach, is found by the match's last look.
func TestLastLook(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Import(
			dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail),
			v.File("a.txt", "ana@exemplo.com.br bia@exemplo.com.br"),
		)
		jobs, err := v.Jobs.ClaimJobs(ctx, "w", []string{leak.KindMatch}, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		run := &job.Run{Job: jobs[0]}
		run.Save = func(_ context.Context, p any) (err error) { run.Progress, err = json.Marshal(p); return err }
		if err := v.Matcher.MatchFirst(ctx, run); err != nil {
			t.Fatal(err)
		}
		late := cyber.NewMonitoring(
			e.Store.Monitoring,
			e.Store.Partners,
			knowsNothing{},
			e.Keys.Fingerprint,
			e.Clock.Now,
		)
		if _, err := late.AddAsset(
			ctx,
			cyber.AssetRequest{Owner: v.Live, User: "bia", Type: "email", Value: "bia@exemplo.com.br"},
		); err != nil {
			t.Fatal(err)
		}
		v.WantEqual("after the first look", v.FindingsOf(v.Live, "ana")+v.FindingsOf(v.Live, "bia"), "email:loja:open")
		if err := v.Matcher.MatchBreach(ctx, run); err != nil {
			t.Fatal(err)
		}
		v.WantEqual("after the last look", v.FindingsOf(v.Live, "bia"), "email:loja:open")
		v.WantEqual(
			"events",
			strings.Join(v.EventsOf(v.Live), "; "),
			"leak ana email:loja; status ana email monitorado>alerta; leak bia email:loja; status bia email monitorado>alerta",
		)
	})
}

// TestExtraKeysAreFound: random Pix keys and CNPJs are matched whether they are watched before or after the import, with
// what stood in their own records.
func TestExtraKeysAreFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		watch := func(user partner.UserHash) {
			for kind, value := range map[string]string{"pix_key": "123E4567-E89B-42D3-A456-426614174000", "cnpj": "12abc34501de35"} {
				if _, err := v.Monitoring.AddAsset(
					context.Background(),
					cyber.AssetRequest{Owner: v.Live, User: user, Group: cyber.ExtraKinds, Type: kind, Value: value},
				); err != nil {
					t.Fatal(err)
				}
			}
		}
		told := func(user partner.UserHash) string {
			findings, err := v.Monitoring.ListFindings(context.Background(), v.Live.Partner, user)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, f := range findings {
				list = append(list, fmt.Sprint(f.Kind, f.Basis(), f.Breach.Exposes, f.Severity))
			}
			slices.Sort(list)
			return strings.Join(list, "; ")
		}
		watch("antes")
		out := v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File(
			"loja.csv",
			"email;chave_pix;cnpj;senha\nana@exemplo.com.br;123e4567-e89b-42d3-a456-426614174000;;segredo99\nloja@exemplo.com.br;;12.ABC.345/01DE-35;\n",
		))
		if out.Tally.Found["pix_key"] != 1 || out.Tally.Found["cnpj"] != 1 {
			t.Errorf("counted %v", out.Tally.Found)
		}
		v.RunJobs()
		v.LoadPublished()
		watch("depois")
		const want = "cnpjrow[email other]low; pix_keyrow[email password financial]critical"
		v.WantEqual("before", told("antes"), want)
		v.WantEqual("after", told("depois"), want)
		if events := v.EventsOf(v.Live); dumptest.CountLines(events, "leak antes") != 1 ||
			dumptest.CountLines(events, "leak depois") != 2 {
			t.Errorf("told %s", strings.Join(events, "\n"))
		}
	})
}
