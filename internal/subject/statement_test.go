package subject

import (
	"bytes"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

var update = flag.Bool("update", false, "write the statements in testdata anew")

// everything is a made-up person who has left something of every kind.
func everything() []Held {
	day := subscription.DayInBrazil(noon)
	return []Held{{
		Partner: partner.Partner{ID: "pt_1", Name: "Banco Exemplo", Settings: partner.Settings{Officer: "Rita, privacidade@exemplo.com.br"}},
		Subscriptions: []subscription.Subscription{
			{
				Plan: "ouro", Start: day, Expiry: day + 365, Holder: "11222333000181", InternalID: "i-1", Metadata: `{"x":1}`,
				CreatedAt: noon, SuspendedAt: noon.Add(time.Hour), EndedAt: noon.Add(2 * time.Hour),
				Beneficiary: subscription.Beneficiary{
					Name: "Ana Exemplo", CPF: "000.000.001-00", BirthDate: "1990-01-02", Gender: "F", Email: "ana@exemplo.com.br", Phone: "5511900000000",
					PrimaryCard: "0001", UserCard: "0002", Address: subscription.Address{Street: "Rua A", Number: "1", City: "Recife", State: "PE"},
				},
			},
			{Plan: "prata", Start: day, Beneficiary: subscription.Beneficiary{Name: "Ana"}},
		},
		Assets: []Watched{{
			Asset:   cyber.Asset{ID: "as_1", Kind: identifier.Email, Value: "ana@exemplo.com.br", User: "u1", Status: cyber.StatusAlert, AddedAt: noon},
			History: []Change{{At: noon, Before: cyber.StatusMonitored, Then: cyber.StatusAlert}},
		}},
		Findings: []cyber.Finding{
			{
				ID: "fd_1", Asset: "as_1", Kind: identifier.Email, Severity: cyber.SeverityHigh, FoundAt: noon, Resolution: cyber.ResolvedNotMe,
				Breach: cyber.Breach{Name: "loja", Title: "Loja", Date: noon, Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword}},
			},
			{ID: "fd_2", Kind: identifier.Email, Severity: cyber.SeverityLow, Breach: cyber.Breach{Name: "lista", Title: "Lista", Date: noon}},
		},
		Steps: []cyber.StepMark{
			{Finding: "fd_1", Step: "change-password", State: cyber.StepDone, At: noon}, {Finding: "fd_1", Step: "gone", State: cyber.StepSkipped, At: noon},
		},
		Cases: []Case{{
			Case: cyber.Case{
				ID: "cs_1", Service: "sv_1", Status: cyber.CaseInProgress, Appointments: []string{"amanhã"}, Answers: []string{"sim"}, CreatedAt: noon,
			},
			Moves: []cyber.CaseMove{
				{From: cyber.CaseOpen, To: cyber.CaseInProgress, Actor: "op_1", Note: "ligar", At: noon}, {To: cyber.CaseClosed, At: noon},
			},
		}, {Case: cyber.Case{ID: "cs_2"}}},
		Devices: []cyber.Device{
			{ID: "ky_1", System: cyber.Android, Name: "Celular", Key: "K", IssuedAt: noon, ValidUntil: noon.AddDate(1, 0, 0), EndedAt: noon.Add(time.Hour)},
			{ID: "ky_2", System: cyber.IOS, Name: "Tablet"},
		},
		Answers: []Answer{{Content: "q", Value: "sim", At: noon}},
		Scores:  []cyber.ScoreDay{{Day: partner.DayNumber(noon), Breach: 505, Assessment: 40}},
		Events: []Event{{
			ID: "ev_1", Type: "monitoring.leak_detected", At: noon, Body: []byte(`{"a":1}`),
			Deliveries: []Delivery{{Endpoint: "we_1", State: "delivered", At: noon}, {Endpoint: "we_2", State: "pending"}},
		}},
		Others: []partner.UserHash{"mae"}, StoredAnswers: 2,
	}}
}

// TestStatements: what a person and a program are given, to the letter.
func TestStatements(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"testdata/statement.txt":  func(b *bytes.Buffer) error { return WriteText(b, everything()) },
		"testdata/statement.json": func(b *bytes.Buffer) error { return WriteJSON(b, everything()) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is not what is written now (-update writes it anew):\n%s", name, got.String())
		}
	}
	if err := WriteText(failingWriter{}, everything()); err == nil {
		t.Error("a statement that could not be written went unnoticed")
	}
}

// TestLetter: the letter greets the person, writes dates, times and names of ours as people do, and holds every value
// that the statement for machines has. It needs nothing from elsewhere.
func TestLetter(t *testing.T) {
	var b bytes.Buffer
	if err := WriteLetter(&b, everything(), noon); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"Olá, Ana.", "13/11/2026", "000.000.001-00", "02/01/1990", "ana@exemplo.com.br", "5511900000000", "Rua A 1, Recife/PE", "11222333000181", "apareceu em “Loja”, de 13/11/2026",
		"e-mail, senha", "Gravidade alta", "não era da pessoa", "Você marcou como feito em", "Troque a senha que vazou", "vazamentos 50,5", "Celular (Android), chave K", "Banco Exemplo", "Rita, privacidade@exemplo.com.br", "@media print", "@page",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the letter lacks %q", want)
		}
	}
	for _, never := range []string{"T12:00:00Z", "2026-11-13", "not_me", "gravidade high", "<script", "http://", "https://", "src="} {
		if strings.Contains(page, never) {
			t.Errorf("the letter holds %q", never)
		}
	}
}

// TestLetterValues: a CPF is written with its dots and dash, whatever it is a value of; what is none stays as it is.
func TestLetterValues(t *testing.T) {
	for value, want := range map[[2]string]string{
		{"cpf", "52998224725"}:          "529.982.247-25",
		{"cpf", "5299822472"}:           "5299822472",
		{"phone", "52998224725"}:        "52998224725",
		{"email", "ana@exemplo.com.br"}: "ana@exemplo.com.br",
	} {
		if got := letterValue(value[0], value[1]); got != want {
			t.Errorf("%v is written %q", value, got)
		}
	}
}

// TestStatementIsNotCalmBeforeTheLook: of a value that was not looked for in past breaches yet neither the copy nor the
// letter says that nothing was found.
func TestStatementIsNotCalmBeforeTheLook(t *testing.T) {
	held := []Held{{Assets: []Watched{
		{Asset: cyber.Asset{ID: "as_1", Kind: identifier.Email, Value: "dora@exemplo.com.br", Status: cyber.StatusMonitored, Waits: true}},
		{Asset: cyber.Asset{ID: "as_2", Kind: identifier.Email, Value: "dora@clube.com.br", Status: cyber.StatusMonitored}},
	}}}
	for name, write := range map[string]func(io.Writer, []Held) error{"text": WriteText, "JSON": WriteJSON} {
		var b strings.Builder
		if err := write(&b, held); err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(b.String(), "ainda não verificado") || strings.Contains(b.String(), `"nao_verificado"`)
		if !told || strings.Count(b.String(), "monitorado") < 1 {
			t.Errorf("%s: %s", name, b.String())
		}
	}
}
