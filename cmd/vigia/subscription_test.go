package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

const itemJSON = `{"start_date":"2026-02-01","expiry_date":"","plan_id":"ouro","is_group_plan":true,"group_size":"50","benefit_holder":"12ABC34501DE35",` +
	`"beneficiary":{"primary_card":"1","user_card":"2","name":"Ana Souza","cpf":%q,"birth_date":"1990-05-17","gender":"F",` +
	`"email":"ana@exemplo.com.br","phone_number":"5511987654321","address":{"zipcode":"01001000","street":"Rua A","number":"1",` +
	`"neighborhood":"Centro","city":"São Paulo","state":"SP"}}}` + "\n"

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlanAndSubscriptionCommands(t *testing.T) {
	folder := t.TempDir()
	at := func(args ...string) []string { return append(args, "--data", filepath.Join(folder, "data"), "--json") }
	must := func(args ...string) map[string]any {
		t.Helper()
		code, out, errs := vigia(t, at(args...)...)
		if code != 0 {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
		return decode(t, out)
	}
	// partly runs an import of which some records are refused.
	partly := func(args ...string) map[string]any {
		t.Helper()
		code, out, errs := vigia(t, at(args...)...)
		if code != exitPartly || decode(t, errs)["error"] != "import.rejects" {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
		return decode(t, out)
	}
	expect := func(got map[string]any, want string) {
		t.Helper()
		for _, pair := range strings.Fields(want) {
			name, value, _ := strings.Cut(pair, "=")
			if fmt.Sprint(got[name]) != value {
				t.Errorf("%s = %v, want %s", name, got[name], value)
			}
		}
	}
	id, _ := must("partner", "create", "--name", "Banco", "--people", "1000")["partner_id"].(string)
	coverage := write(
		t,
		filepath.Join(folder, "ouro.json"),
		`{"plano":"Ouro","limiteCobertura":50000.5,"tipoCobertura":["Roubo"],
		"condições":"c","exclusões":"e","sublimites":[{"nome":"Roubo","limite":100}]}`,
	)
	expect(
		must(
			"plan",
			"create",
			"--partner",
			id,
			"--id",
			"ouro",
			"--name",
			"Ouro",
			"--coverage",
			coverage,
			"--max-devices",
			"5",
		),
		"plan_id=ouro max_devices=5 retired=false",
	)
	shown := must("plan", "show", "ouro", "--partner", id)
	cover, _ := shown["coverage"].(map[string]any)
	expect(cover, "plano=Ouro limiteCobertura=50000.5 condições=c")
	if code, _, _ := vigia(
		t,
		at("plan", "create", "--partner", id, "--id", "ouro", "--name", "Ouro")...); code != exitConflict {
		t.Error("a second plan of one id:", code)
	}
	if code, _, _ := vigia(
		t,
		at("plan", "create", "--partner", "pt_nobody", "--id", "ouro", "--name", "Ouro")...); code != exitNotFound {
		t.Error("a plan of nobody:", code)
	}

	file := write(
		t,
		filepath.Join(folder, "lote.jsonl"),
		fmt.Sprintf(itemJSON, "52998224725")+fmt.Sprintf(itemJSON, "11144477735")+
			fmt.Sprintf(itemJSON, "12345678900")+"[]\n"+fmt.Sprintf(itemJSON, "52998224725"),
	)
	expect(
		partly("subscription", "import", file, "--partner", id, "--dry-run"),
		"created=2 already_there=1 rejected=2 dry_run=true",
	)
	expect(partly("subscription", "import", file, "--partner", id), "created=2 already_there=1 rejected=2")
	expect(partly("subscription", "import", file, "--partner", id), "created=0 already_there=3 rejected=2")
	rejects, err := os.ReadFile(filepath.Join(folder, "lote.rejects.jsonl"))
	if err != nil || !strings.Contains(string(rejects), `{"line":3,"errors":["beneficiary.cpf: dígitos verificadores inválidos"],"start_date"`) ||
		!strings.Contains(string(rejects), `{"line":4,"errors":["item: deve ser um objeto JSON"],"text":"[]"}`) {
		t.Error(string(rejects), err)
	}
	mended := write(
		t,
		filepath.Join(folder, "mended.jsonl"),
		strings.Split(strings.ReplaceAll(string(rejects), "12345678900", "12345678909"), "\n")[0],
	)
	expect(must("subscription", "import", mended, "--partner", id), "created=1 already_there=0 rejected=0")

	table := write(
		t,
		filepath.Join(folder, "lote.csv"),
		"\uFEFFstart_date;plan_id;is_group_plan;primary_card;user_card;name;cpf;birth_date;gender;email;"+
			"phone_number;zipcode;street;number;neighborhood;city;state\n"+
			"2026-02-01;ouro;não;1;2;Bia;98765432100;1990-05-17;F;bia@exemplo.com.br;5511987654321;01001000;Rua B;2;Centro;Natal;RN\n"+
			"2026-02-01;ouro;não;1;2;Bia;98765432101;1990-05-17;F;bia@exemplo.com.br;5511987654321;01001000;Rua "+
			"B;2;Centro;Natal;ZZ\n",
	)
	expect(partly("subscription", "import", table, "--partner", id), "created=1 already_there=0 rejected=1")
	if rejects, err = os.ReadFile(filepath.Join(folder, "lote.rejects.csv")); err != nil ||
		!strings.Contains(string(rejects), "beneficiary.cpf: dígitos verificadores inválidos; beneficiary.address.state: UF desconhecida") {
		t.Error(string(rejects), err)
	}

	_, out, _ := vigia(t, at("subscription", "list", "--partner", id, "--plan", "ouro")...)
	list := decodeList(t, out)
	difftest.Must(t, "how many are listed", len(list), 4)
	want := maps.Clone(list[0])
	want["plan_id"], want["start_date"] = "ouro", "2026-02-01"
	difftest.Check(t, "the first of the list", list[0], want)
	if strings.Contains(out, "52998224725") {
		t.Error(out)
	}
	expect(must("plan", "retire", "ouro", "--partner", id), "retired=true")
	expect(partly("subscription", "import", mended, "--partner", id), "created=0 rejected=1")
}
