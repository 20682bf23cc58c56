package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
)

const planID = "protecao"

// world is who there is to ask about.
type world struct {
	api, key     string
	cpfs, hashes []string
}

// populate makes people with a subscription, four watched values, a phone and some answers, and breaches that hold one
// value of each of them.
func populate(ctx context.Context, a *app.App, api string, o options) (world, error) {
	p, cred, err := a.Partners.Create(ctx, "bench", partner.Live, partner.Settings{RatePerSecond: 1_000_000, Burst: 1_000_000})
	if err != nil {
		return world{}, err
	}
	w := world{api: api, key: cred.APIKey}
	if _, err := a.Plans.Create(ctx, plan.Plan{ID: planID, Partner: p.ID, Name: "Protecao", Coverage: plan.Demo()}); err != nil {
		return w, err
	}
	var prints [4][]int64 // by value, one per person
	for n := range o.people {
		cpf := load.CPF(n + 1)
		_, d512 := partner.Digests(cpf, cred.Salt)
		w.cpfs, w.hashes = append(w.cpfs, cpf), append(w.hashes, hex.EncodeToString(d512[1:]))
		values := [4]watched{
			{identifier.Email, fmt.Sprintf("pessoa.%d@exemplo.com.br", n)}, {identifier.CPF, cpf},
			{identifier.Phone, fmt.Sprintf("+55119%08d", 70000000+n)}, {identifier.Email, fmt.Sprintf("outra.%d@exemplo.com.br", n)},
		}
		if err := w.addPerson(ctx, n, values); err != nil {
			return w, err
		}
		for i, v := range values {
			normal, err := identifier.Parse(v.kind, v.value, identifier.Required)
			if err != nil {
				return w, err
			}
			prints[i] = append(prints[i], int64(a.Keys.Fingerprint(byte(v.kind), []byte(normal))))
		}
	}
	for i := range o.findings {
		if err := addBreach(ctx, a, i, prints[i%len(prints)]); err != nil {
			return w, err
		}
	}
	return w, nil
}

type watched struct {
	kind  identifier.Kind
	value string
}

// addPerson does through the API what a partner would do for a person.
func (w world) addPerson(ctx context.Context, n int, values [4]watched) error {
	user := w.hashes[n]
	bodies := [][2]string{
		{"/v1/subscriptions", fmt.Sprintf(`[{"start_date":"2026-02-01","expiry_date":"","plan_id":%q,"is_group_plan":false,"beneficiary":{`+
			`"primary_card":"4111111111111111","user_card":"5555555555554444","name":"Pessoa Inventada %d","cpf":%q,"birth_date":"1990-05-17",`+
			`"gender":"F","email":"pessoa.%d@exemplo.com.br","phone_number":"+55119%08d","address":{"zipcode":"01001000",`+
			`"street":"Rua das Laranjeiras","number":"%d","neighborhood":"Centro","city":"Campinas","state":"SP"}}}]`,
			planID, n, w.cpfs[n], n, 70000000+n, n)},
		{"/v1/cyber/epp", fmt.Sprintf(`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular","userHash":%q}`, user)},
	}
	for _, v := range values {
		bodies = append(bodies, [2]string{"/v1/cyber/monitoring", fmt.Sprintf(`{"value":%q,"type":%q,"userHash":%q}`, v.value, v.kind, user)})
	}
	for _, answer := range [][2]string{{"senhas-repetidas", "algumas"}, {"duas-etapas-email", "sms"}, {"limites-do-pix", "nao"}} {
		bodies = append(bodies, [2]string{"/v1/cyber/advise/" + user + "/answers", fmt.Sprintf(`{"catalogId":%q,"value":%q}`, answer[0], answer[1])})
	}
	for _, b := range bodies {
		if err := w.post(ctx, b[0], b[1]); err != nil {
			return err
		}
	}
	return nil
}

func (w world) post(ctx context.Context, path, body string) error {
	answer, err := load.Ask(ctx, http.MethodPost, w.api, path, "x-api-key: "+w.key, []byte(body))
	if err == nil && strings.Contains(string(answer), `"failure"`) {
		err = fmt.Errorf("%s answered %s", path, answer)
	}
	return err
}

// addBreach publishes a breach that holds these values and finds them.
func addBreach(ctx context.Context, a *app.App, i int, prints []int64) error {
	sets := [][]cyber.Exposed{
		{cyber.ExposedEmail, cyber.ExposedPassword, cyber.ExposedName}, {cyber.ExposedCPF, cyber.ExposedName, cyber.ExposedBirthDate, cyber.ExposedAddress},
		{cyber.ExposedPhone, cyber.ExposedName, cyber.ExposedUsername}, {cyber.ExposedEmail, cyber.ExposedPasswordHash, cyber.ExposedIP},
	}
	now := time.Now()
	name := fmt.Sprintf("vazamento-%03d", i)
	err := a.Store.Breaches.InsertBreach(ctx, leak.Record{State: leak.Published, PublishedAt: now, Breach: cyber.Breach{
		Name: name, Title: fmt.Sprintf("Vazamento %03d", i), Date: now.AddDate(0, -i%90, 0), Exposes: sets[i%len(sets)], Kind: cyber.SourceBreach,
		Verified: true, AddedAt: now,
	}})
	if err != nil {
		return err
	}
	if _, err := a.Store.Breaches.KeepHits(ctx, name, prints); err != nil {
		return err
	}
	_, err = a.Store.Breaches.TellHits(ctx, name, 10*len(prints))
	return err
}

func analyse(ctx context.Context, address string) error {
	db, err := sqldb.Open(ctx, address, sqldb.Options{})
	if err != nil {
		return err
	}
	_, err = db.Reader().ExecContext(ctx, `VACUUM ANALYZE`)
	return errors.Join(err, db.Close())
}
