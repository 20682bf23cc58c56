package scan_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

const pixKey = "123e4567-e89b-42d3-a456-426614174000"

// company is a made-up CNPJ with right check digits, with letters or without.
func company(t *testing.T, body string) string {
	t.Helper()
	for check := range 100 {
		if n := fmt.Sprintf("%s%02d", body, check); identifier.ValidCNPJ(n) {
			return n
		}
	}
	t.Fatal("no check digits fit", body)
	return ""
}

func punctuated(n string) string {
	return n[:2] + "." + n[2:5] + "." + n[5:8] + "/" + n[8:12] + "-" + n[12:]
}

// extras are the Pix keys and CNPJs of a text, each with its classes, as the recorder tells them.
func extras(t *testing.T, text string) []string {
	t.Helper()
	var got []string
	r := scan.NewRecorder(func(s *record.Sighting) {
		if s.Kind == identifier.PixKey || s.Kind == identifier.CNPJ {
			got = append(got, fmt.Sprintf("%v %s", s.Kind, s.Normal))
		}
	})
	if _, err := r.Scan(context.Background(), strings.NewReader(text), "dump.txt"); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got
}

// TestExtraKeys: a UUID counts where a label or a column says that it is a key of Pix, a bare CNPJ where one says that
// it is one, and a punctuated CNPJ everywhere.
func TestExtraKeys(t *testing.T) {
	digits, letters := company(t, "112223330001"), company(t, "12ABC34501DE")
	pix, firm, lettered := "pix_key "+pixKey, "cnpj "+digits, "cnpj "+letters
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"label":                    {"Chave Pix: " + pixKey + "\n", []string{pix}},
		"label of the kind":        {"chave aleatória = " + strings.ToUpper(pixKey) + "\n", []string{pix}},
		"json":                     {`{"nome":"Ana","chave_pix":"` + pixKey + `"}` + "\n", []string{pix}},
		"json with a type":         {`{"tipo":"EVP","chave":"` + pixKey + `"}` + "\n", []string{pix}},
		"xml":                      {"<pixKey>" + pixKey + "</pixKey>\n", []string{pix}},
		"column beside an address": {"email,chave_pix,nome\nana@exemplo.com.br," + pixKey + ",Ana\n", []string{pix}},
		"column before an address": {"chave_pix;email\n" + pixKey + ";ana@exemplo.com.br\n", []string{pix}},
		"column alone":             {"nome,chave_pix\nAna Souza," + pixKey + "\n", []string{pix}},
		"SQL": {
			"INSERT INTO c (nome, chave_pix) VALUES ('Ana','" + pixKey + "'),('Rui','-');\n",
			[]string{pix},
		},
		"SQL with an address": {
			"INSERT INTO c (pix, email) VALUES ('" + pixKey + "','ana@exemplo.com.br');\n",
			[]string{pix},
		},
		"COPY": {
			"COPY c (nome, chave_pix) FROM stdin;\nAna\t" + pixKey + "\n\\.\n",
			[]string{pix},
		},
		"an id": {"id,email\n" + pixKey + ",ana@exemplo.com.br\n" + pixKey + "\n", nil},
		"an id beside a key": {"id,nome,chave_pix\n" + strings.Replace(pixKey, "1", "2", 1) + ",Ana," + pixKey +
			"\n", []string{pix}},
		"another version":            {"Chave Pix: " + strings.Replace(pixKey, "-4", "-1", 1) + "\n", nil},
		"part of more":               {"Chave Pix: " + pixKey + "-12\n", nil},
		"punctuated":                 {"Fornecedor " + punctuated(digits) + " em atraso\n", []string{firm}},
		"punctuated with letters":    {"x;" + strings.ToLower(punctuated(letters)) + ";y\n", []string{lettered}},
		"punctuated, wrong digits":   {punctuated(digits[:13]+string('0'+(digits[13]-'0'+1)%10)) + "\n", nil},
		"bare":                       {"pedido " + digits + "\n", nil},
		"bare with a label":          {"CNPJ: " + digits + "\n", []string{firm}},
		"bare in json":               {`{"cnpj":"` + digits + `","x":1}` + "\n", []string{firm}},
		"bare under a column":        {"razao;cnpj\nLoja;" + digits + "\n", []string{firm}},
		"bare beside an address":     {"cnpj,email\n" + digits + ",loja@exemplo.com.br\n", []string{firm}},
		"people and firms":           {"cpf_cnpj,email\n" + digits + ",loja@exemplo.com.br\n", []string{firm}},
		"under another label's name": {"cnpj_pai=1,protocolo=" + digits + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := extras(t, c.text); !slices.Equal(got, c.want) {
				t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

// TestExtraKeysWhereverTheyStand: hyphens are judged in windows, over the borders of which keys lie too.
func TestExtraKeysWhereverTheyStand(t *testing.T) {
	digits, key := company(t, "112223330001"), strings.Replace(pixKey, "-42", "-4e", 1) // by its hyphens alone
	for before := range 130 {
		text := strings.Repeat("x", before) + " pix " + key + " " + punctuated(digits) + "\n"
		if got := extras(t, text); len(got) != 2 {
			t.Fatalf("behind %d characters: %q", before, got)
		}
	}
}

// TestExtraKeysSayWhatStoodBesideThem: the classes are those of the record, and the number of a company is no document
// of a person.
func TestExtraKeysSayWhatStoodBesideThem(t *testing.T) {
	digits := company(t, "112223330001")
	got := map[string]record.Classes{}
	r := scan.NewRecorder(func(s *record.Sighting) { got[string(s.Normal)] = s.Classes })
	text := "email,senha,chave_pix,cnpj\nana@exemplo.com.br,segredo9," + pixKey + "," + digits +
		"\nrui@exemplo.com.br,,," + digits + "\n"
	if _, err := r.Scan(context.Background(), strings.NewReader(text), "dump.csv"); err != nil {
		t.Fatal(err)
	}
	all := record.Email | record.Password | record.Financial
	if got["ana@exemplo.com.br"] != all || got[pixKey] != all || got["rui@exemplo.com.br"] != record.Email ||
		got[digits] != record.Email|record.Other {
		t.Errorf("%v", got)
	}
}

// TestExtraKeysDoNotDependOnPieces: rows of nothing but keys are told wherever the text is cut.
func TestExtraKeysDoNotDependOnPieces(t *testing.T) {
	var text strings.Builder
	text.WriteString("nome,chave_pix\n")
	const rows = 200_000
	for n := range rows {
		fmt.Fprintf(&text, "Pessoa,%08x-e89b-42d3-a456-426614174000\n", n)
	}
	if got := extras(t, text.String()); len(got) != rows || len(slices.Compact(got)) != rows {
		t.Errorf("%d keys of %d", len(slices.Compact(got)), rows)
	}
}
