package leak_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const dump = "id;nome;email;cpf;telefone;cartao\n" +
	"1;Ana;ANA@Exemplo.com.br;529.982.247-25;(11) 8765-4321;4111 1111 1111 1111\n" +
	"2;Bia;bia@rh.empresa-exemplo.com.br;11144477735;;\n"

func TestImportFindsWatchedValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		v.watch(v.live, "ana", "email", "ana@exemplo.com.br")
		v.watch(v.live, "ana", "cpf", "52998224725")
		v.watch(v.live, "ana", "phone", "+55 11 98765-4321") // the dump has it without its ninth digit
		v.watch(v.live, "ana", "credit_card", "4111111111111111")
		v.watch(v.live, "ana", "email", "outra@exemplo.com.br")
		v.watch(v.live, "caio", "email", "caio@exemplo.com.br")
		if _, err := v.monitoring.WatchDomain(context.Background(), v.live, "empresa", "empresa-exemplo.com.br"); err != nil {
			t.Fatal(err)
		}
		out := v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail, cyber.ExposedPhone), v.file("loja.csv", dump))
		if got := out.Tally.Found; got["email"] != 2 || got["cpf"] != 2 || got["phone"] != 1 || got["credit_card"] != 1 {
			t.Errorf("counted %v", got)
		}
		for range 2 { // a match may run twice
			v.runJobs()
			v.want("statuses", v.statuses(v.live, "ana"), "email=alerta cpf=alerta phone=alerta credit_card=alerta email=monitorado")
			v.want("findings", v.findings(v.live, "ana"), "email:loja:open cpf:loja:open phone:loja:open credit_card:loja:open")
			v.want("domain", v.statuses(v.live, "empresa"), "domain=alerta")
			v.want("nobody", v.statuses(v.live, "caio"), "email=monitorado")
			told := v.events(v.live)
			if len(told) != 7 || count(told, "leak ana") != 1 || count(told, "leak empresa domain:loja") != 1 || count(told, "status ") != 5 {
				t.Errorf("told %s", strings.Join(told, "\n"))
			}
			if _, err := e.AddJob(context.Background(), leak.KindMatch, "loja", struct{}{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func count(lines []string, prefix string) int {
	n := 0
	for _, l := range lines {
		if strings.HasPrefix(l, prefix) {
			n++
		}
	}
	return n
}

// TestNewValueIsFoundInOldBreaches: the same question the other way round, in the request itself.
func TestNewValueIsFoundInOldBreaches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.imports(breachNamed("velho", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br\n"))
		v.Clock.Advance(time.Hour)
		v.imports(breachNamed("senhas", cyber.SourceBreach, cyber.ExposedEmail, cyber.ExposedPassword), v.file("b.txt", "x ana@exemplo.com.br:123 y"))
		v.load()
		v.watch(v.live, "ana", "email", "Ana@exemplo.com.br")
		v.want("findings", v.findings(v.live, "ana"), "email:velho:open email:senhas:open")
		v.want("events", strings.Join(v.events(v.live), "; "), "leak ana email:velho,email:senhas; status ana email monitorado>comprometido")
		v.runJobs()
		v.want("after the match", strings.Join(v.events(v.live), "; "), "leak ana email:velho,email:senhas; status ana email monitorado>comprometido")
	})
}

// TestNovelty: a combolist made of what was already found is a finding without an alert.
func TestNovelty(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		v.watch(v.live, "ana", "email", "ana@exemplo.com.br")
		v.watch(v.live, "bia", "email", "bia@exemplo.com.br")
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br"))
		v.runJobs()
		v.imports(breachNamed("coletanea", cyber.SourceCombolist, cyber.ExposedEmail), v.file("b.txt", "ana@exemplo.com.br\nbia@exemplo.com.br"))
		v.runJobs()
		v.want("findings", v.findings(v.live, "ana"), "email:loja:open email:coletanea:open")
		told := strings.Join(v.events(v.live), "; ")
		v.want("events", told, "leak ana email:loja; status ana email monitorado>alerta; leak bia email:coletanea; status bia email monitorado>alerta")
	})
}

func TestRetract(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		v.watch(v.live, "ana", "email", "ana@exemplo.com.br")
		v.imports(breachNamed("certo", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br"))
		v.imports(breachNamed("errado", cyber.SourceStealer, cyber.ExposedEmail), v.file("b.txt", "ana@exemplo.com.br"))
		v.runJobs()
		v.load()
		v.want("before", v.statuses(v.live, "ana"), "email=comprometido")
		if _, err := v.breaches.Retract(context.Background(), "errado"); err != nil {
			t.Fatal(err)
		}
		v.runJobs()
		v.want("after", v.statuses(v.live, "ana"), "email=alerta")
		v.want("findings", v.findings(v.live, "ana"), "email:certo:open email:errado:retracted")
		v.load()
		v.watch(v.live, "bia", "email", "ana@exemplo.com.br")
		v.want("new value", v.findings(v.live, "bia"), "email:certo:open")
		names, err := v.depot.Names()
		if err != nil || len(names) != 1 || !strings.HasPrefix(names[0], "certo-") {
			t.Errorf("files left: %v, %v", names, err)
		}
		inputs, err := leak.Inputs(context.Background(), nil, []string{v.file("b.txt", "ana@exemplo.com.br")})
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.importer.Import(context.Background(), leak.Spec{Breach: breachNamed("errado", cyber.SourceBreach, cyber.ExposedEmail), Inputs: inputs})
		if !errors.Is(err, leak.ErrRetracted) {
			t.Errorf("importing a retracted name: %v", err)
		}
	})
}

// TestEdit: what an operator learns later changes statuses, and says so.
func TestEdit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		v.watch(v.live, "ana", "email", "ana@exemplo.com.br")
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br"))
		v.runJobs()
		_, err := v.breaches.Edit(context.Background(), "loja", func(b *cyber.Breach) {
			b.Exposes, b.Name = append(b.Exposes, cyber.ExposedPassword), "outro"
		})
		if err != nil {
			t.Fatal(err)
		}
		v.runJobs()
		v.want("status", v.statuses(v.live, "ana"), "email=comprometido")
		if told := v.events(v.live); told[len(told)-1] != "status ana email alerta>comprometido" {
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
		v.load()
		v.watch(sandbox, "ana", "email", "ana@exemplo.com.br")
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br bia@exemplo.com.br joao@vazamento.test"))
		v.runJobs()
		v.load()
		v.watch(sandbox, "bia", "email", "bia@exemplo.com.br")
		v.want("statuses", v.statuses(sandbox, "ana")+v.statuses(sandbox, "bia"), "email=monitoradoemail=monitorado")
		v.watch(v.live, "joao", "email", "joao@vazamento.test")
		v.want("live", v.findings(v.live, "joao"), "email:loja:open")
		if n, err := v.library.Settle(context.Background()); err != nil || n != 0 {
			t.Errorf("settled %d, %v", n, err)
		}
	})
}

// TestPendingValues: what a process without the newest segments adds is probed by one that has them.
func TestPendingValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.watch(v.live, "ana", "email", "ana@exemplo.com.br") // before the first load: nobody can be asked
		v.load()
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br bia@exemplo.com.br"))
		v.watch(v.live, "bia", "email", "bia@exemplo.com.br") // published, but not yet loaded here
		v.want("before", v.findings(v.live, "ana")+v.findings(v.live, "bia"), "")
		if n, err := v.library.Settle(context.Background()); err != nil || n != 2 {
			// Settled at an epoch that is over: found nothing, still pending.
			t.Logf("settled %d, %v", n, err)
		}
		v.want("still nothing", v.findings(v.live, "ana"), "")
		v.load()
		if n, err := v.library.Settle(context.Background()); err != nil || n != 2 {
			t.Errorf("settled %d, %v", n, err)
		}
		v.want("after", v.findings(v.live, "ana")+" "+v.findings(v.live, "bia"), "email:loja:open email:loja:open")
		if n, err := v.library.Settle(context.Background()); err != nil || n != 0 {
			t.Errorf("settled %d again, %v", n, err)
		}
		v.runJobs()
		if told := v.events(v.live); count(told, "leak") != 2 {
			t.Errorf("told %v", told)
		}
	})
}

// TestForgottenValueIsErased with all that was known of it.
func TestForgottenValueIsErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		v.watch(v.live, "ana", "email", "ana@exemplo.com.br")
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br"))
		v.runJobs()
		assets, err := v.monitoring.Watched(context.Background(), v.live.Partner, "ana")
		if err != nil {
			t.Fatal(err)
		}
		if err := v.monitoring.Forget(context.Background(), v.live.Partner, "ana", assets[0].ID); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"asset", "finding", "asset_history", "match_hit"} {
			var n int
			if err := v.DB.Reader().QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil || n != 0 {
				t.Errorf("%s keeps %d rows, %v", table, n, err)
			}
		}
	})
}

// knowsNothing is a process that believes to know every breach there is, and has not noticed the newest.
type knowsNothing struct{}

func (knowsNothing) Probe(uint64) cyber.Sighting { return cyber.Sighting{Epoch: 1 << 40} }

// TestLastLook: a value that is added after the match has gone through the values, by a process that has not noticed the
// breach, is found by the match's last look.
func TestLastLook(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		v := newEnv(t, e)
		v.load()
		v.watch(v.live, "ana", "email", "ana@exemplo.com.br")
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("a.txt", "ana@exemplo.com.br bia@exemplo.com.br"))
		jobs, err := v.ClaimJobs(ctx, "w", []string{leak.KindMatch}, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		run := &job.Run{Job: jobs[0]}
		run.Save = func(_ context.Context, p any) (err error) { run.Progress, err = json.Marshal(p); return err }
		if err := v.matcher.First(ctx, run); err != nil {
			t.Fatal(err)
		}
		late := cyber.NewMonitoring(e.Store, knowsNothing{}, e.Keys.Fingerprint, e.Clock.Now)
		if err := late.Watch(ctx, v.live, "bia", "email", "bia@exemplo.com.br"); err != nil {
			t.Fatal(err)
		}
		v.want("after the first look", v.findings(v.live, "ana")+v.findings(v.live, "bia"), "email:loja:open")
		if err := v.matcher.Match(ctx, run); err != nil {
			t.Fatal(err)
		}
		v.want("after the last look", v.findings(v.live, "bia"), "email:loja:open")
		v.want("events", strings.Join(v.events(v.live), "; "),
			"leak ana email:loja; status ana email monitorado>alerta; leak bia email:loja; status bia email monitorado>alerta")
	})
}
